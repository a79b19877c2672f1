/**
 * Returns a statement that finds the number before the first row at or after a time, by bisection: the times of the
 * activity log rise with their numbers, and have no index, to which each sign-in would write.
 * @param time an SQL expression
 */
export const startOf = (table: string, time = 'now() - make_interval(secs => $1)') => `
with recursive span (low, high) as (
  select coalesce(min(id), 0), coalesce(max(id), 0) + 1 from ${table}
  union all
  select case when older then middle + 1 else low end, case when older then high else middle end
  from (select low, high, (low + high) / 2 as middle from span where low < high) step cross join lateral (
    select coalesce((select at < ${time} from ${table} where id >= middle order by id limit 1), false) as older
  ) probe
)
select greatest(low - 1, 0)::float8 as start from span where low >= high`;
