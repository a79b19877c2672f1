/** A sign-in and a logout end the sessions of a device, which they find by this index. */
export const up = `
create index sessions_device on sessions (device);
`;
