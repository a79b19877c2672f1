/** Returns the size of a run: `full` with FAULTS=full, as in `FAULTS=full npm run test:faults`, otherwise `short`. */
export const inRun = <Size>({ short, full }: { short: Size; full: Size }): Size => (process.env.FAULTS === 'full' ? full : short);
