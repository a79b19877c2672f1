/** Written by web/build-docs.ts: the path of each page's text, by the slug of the page. */
declare module 'virtual:docs' {
  const paths: Record<string, string>;
  export default paths;
}
