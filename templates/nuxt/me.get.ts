export default defineEventHandler(async (event) => {
  const { data } = await visitorSession(event);
  if (!data.email) throw createError({ statusCode: 401, statusMessage: 'Not signed in' });
  return { email: data.email };
});
