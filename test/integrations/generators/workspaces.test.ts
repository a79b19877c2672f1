import { workspaces } from './projects.ts';
import { describeProjects } from './scenario.ts';

describeProjects(workspaces());
