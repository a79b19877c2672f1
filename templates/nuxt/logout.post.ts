export default defineEventHandler(async (event) => {
  const session = await visitorSession(event);
  await session.clear();
  return sendRedirect(event, '/', 303);
});
