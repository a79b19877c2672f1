import { projectsOf } from './projects.ts';
import { describeProjects } from './scenario.ts';

describeProjects(projectsOf('express'));
