/** An element as its tag, attributes and children, or a text. A `table` has `columns`; a `pre` a `label`, and its code as only child. */
export type DocNode = string | [tag: string, attributes: DocAttributes, ...children: DocNode[]];

export type DocAttributes = { id?: string; href?: string; start?: number; columns?: number; label?: string };

/** A page of the documentation, parsed by the build (web/build-docs.ts). */
export type DocText = {
  /** Its headings of level 2. */
  sections: { heading: string; anchor: string }[];
  /** Its elements, divided before each heading. */
  parts: DocNode[][];
};
