import { SaveForm } from '../../ui/save-form.tsx';
import { toast } from '../../ui/toast.tsx';
import { IconField } from './icon-field.tsx';
import { useIcon } from './icon-upload.ts';
import { useSaveWebsite, type Website } from './queries.ts';

/** Changes the icon of a website. */
export function IconForm({ website }: { website: Website }) {
  const save = useSaveWebsite(website);
  const icon = useIcon(website.iconUrl);
  const onSave = () =>
    save.mutate(
      { domain: website.domain, iconUrl: icon.iconUrl },
      { onSuccess: () => toast('Website updated successfully', website.displayDomain) },
    );
  return (
    <SaveForm
      button="Save icon"
      changed={icon.iconUrl !== website.iconUrl}
      busy={save.isPending || icon.upload !== null}
      error={save.error}
      onSave={onSave}
      onDiscard={() => icon.reset()}
    >
      <IconField icon={icon} hideLabel />
    </SaveForm>
  );
}
