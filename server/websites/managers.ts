/**
 * Returns the SQL condition that an address manages a website: the website is linked to it, or it is a member who accepted the invitation.
 * @param website the alias of `websites`
 * @param email an expression, such as `$1`
 */
export const managedBy = (website: string, email: string) =>
  `(${website}.email = ${email} or exists (
    select from website_members m where m.website_id = ${website}.id and m.email = ${email} and m.joined_at is not null))`;
