import { projectsOf } from './projects.ts';
import { describeProjects } from './scenario.ts';

describeProjects(projectsOf('flask', 'fastapi', 'django', 'go', 'php', 'sinatra', 'rails'));
