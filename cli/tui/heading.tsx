import { Box, Text } from 'ink';
import type { Glyphs } from './glyphs.ts';
import { fitting } from './words.ts';

type Props = { title: string; right: readonly string[]; isInUse: boolean; width: number; glyphs: Glyphs };

/** The head of a pane: marked when keys go there, and what matters most at its right end. @param props.right longer texts first */
export function Heading({ title, right, isInUse, width, glyphs }: Props) {
  const whole = `${isInUse ? glyphs.marker : ' '} ${title}`;
  const end = right.find(({ length }) => whole.length + 2 + length <= width);
  return (
    <Box width={width} justifyContent="space-between">
      {end === undefined ? null : (
        <Text bold={isInUse} dimColor={!isInUse}>
          {whole}
        </Text>
      )}
      <Text bold>{end ?? fitting(right, width, glyphs.ellipsis)}</Text>
    </Box>
  );
}
