import { createContext, useContext, useEffect } from 'react';

/** Receives the title of a page that the service renders; null in the browser. */
export const TitleContext = createContext<{ title: string } | null>(null);

/** Sets the title of the document. */
export function usePageTitle(title: string) {
  const rendered = useContext(TitleContext);
  if (rendered) rendered.title = title;
  useEffect(() => {
    document.title = title;
  }, [title]);
}
