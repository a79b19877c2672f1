export default defineEventHandler(async (event) => {
  // A form of another website must not sign the visitor out.
  if (getHeader(event, 'Origin') !== SITE.origin && getHeader(event, 'Sec-Fetch-Site') !== 'same-origin')
    throw createError({ statusCode: 403, statusMessage: 'Forbidden' });
  const session = await visitorSession(event);
  await session.clear();
  return sendRedirect(event, '/', 303);
});
