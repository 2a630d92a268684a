import type { Command } from '../command.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { recover } from './recover.ts';
import { serve } from './serve.ts';
import { setup } from './setup.ts';
import { tokenRotate } from './token-rotate.ts';
import { workspacesAdd, workspacesConfirm, workspacesList, workspacesRemove } from './workspaces.ts';

export const commands: readonly Command[] = [
  serve,
  workspacesAdd,
  workspacesList,
  workspacesRemove,
  workspacesConfirm,
  explain,
  doctor,
  recover,
  tokenRotate,
  setup,
];
