/** What is shown instead of an address that was erased. In the audit log, `erased-` and a random name stand for an address that the operator erased. */
export const ERASED = 'erased';

/**
 * Returns the SQL expression of the hash under which website_erasures stores an address: SHA-256 with the id of the website, so that
 * the hashes of two websites cannot be compared.
 * @param website the id, as SQL
 * @param email as SQL
 */
export const erasureHash = (website: string, email: string) => `sha256(convert_to(${website}::text || ' ' || ${email}, 'UTF8'))`;

/**
 * Returns the SQL condition that an address of a row was erased after what the row reports.
 * @param row.website its id, as SQL
 * @param row.at the time of the row, as SQL
 */
export const isErased = ({ website, email, at }: { website: string; email: string; at: string }) => `exists (
    select from website_erasures erasure
    where erasure.website = ${website} and erasure.hash = ${erasureHash(website, email)} and erasure.at >= ${at})`;

/** Returns the SQL expression of the address that is shown for a row. */
export const shownAddress = (row: { website: string; email: string; at: string }) =>
  `case when strpos(${row.email}, '@') = 0 or ${isErased(row)} then '${ERASED}' else ${row.email} end`;
