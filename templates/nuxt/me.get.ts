export default defineEventHandler(async (event) => {
  setHeader(event, 'Cache-Control', 'no-store');
  const email = await signedInEmail(event);
  if (!email) throw createError({ statusCode: 401, statusMessage: 'Not signed in' });
  return { email };
});
