import type { CSSProperties, ReactNode } from 'react';
import { styles } from './styles.ts';

type TableProps = {
  className?: string;
  align?: 'center';
  /** Of the table, for what Outlook may ignore; Outlook on Windows applies padding, border and background only to a cell. */
  tableStyle?: CSSProperties;
  /** Of the cell. */
  style: CSSProperties;
  children: ReactNode;
};

/** A table with one cell, for layout: mail programs do not support it with other elements. */
export function Table({ className, align, tableStyle, style, children }: TableProps) {
  return (
    <table role="presentation" align={align} width="100%" border={0} cellPadding={0} cellSpacing={0} style={tableStyle}>
      <tbody>
        <tr>
          <td className={className} style={style}>
            {children}
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/** A horizontal rule with space above and below it. Outlook on Windows draws an `hr` with a shadow. */
export function Rule() {
  return (
    <Table style={styles.ruleSpace}>
      <Table className="rule" style={styles.rule}>
        {'\u00a0'}
      </Table>
    </Table>
  );
}
