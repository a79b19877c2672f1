import { useEffect, useRef, useState } from 'react';
import { toast, toastFailure } from '../../lib/toast.ts';
import { faultOfFile, UploadFailure, uploadIcon } from './upload-icon.ts';

/** The icon of a website's form. */
export type Icon = {
  /** What the site would get; null: none. */
  iconUrl: string | null;
  /** What is shown of it: the file itself while it is sent, so that nothing flickers. */
  picture: string | null;
  sending: { name: string; percent: number } | null;
  failure: UploadFailure | null;
  choose(file: File): void;
  cancel(): void;
  remove(): void;
};

/** Keeps the icon of a form: chosen files are sent at once, one at a time. @param first the icon that the site has */
export function useIcon(first: string | null): Icon {
  const [iconUrl, setIconUrl] = useState(first);
  const [picture, setPicture] = useState(first);
  const [sending, setSending] = useState<Icon['sending']>(null);
  const [failure, setFailure] = useState<UploadFailure | null>(null);
  const under = useRef<AbortController | null>(null);
  useEffect(() => () => under.current?.abort(), []);

  const stop = () => {
    under.current?.abort();
    under.current = null;
    setSending(null);
    setFailure(null);
  };
  const fail = (reason: UploadFailure) => {
    setFailure(reason);
    toastFailure(reason.title, reason.message);
  };

  const choose = async (file: File) => {
    stop();
    const fault = faultOfFile(file);
    if (fault) return fail(fault);
    const controller = new AbortController();
    under.current = controller;
    setSending({ name: file.name, percent: 0 });
    void dataUrlOf(file).then((url) => under.current === controller && setPicture(url));
    try {
      const sent = await uploadIcon(file, (percent) => setSending({ name: file.name, percent }), controller.signal);
      setIconUrl(sent);
      toast('Icon uploaded', 'Upload successful. Save the website to show it.');
    } catch (error) {
      if (controller.signal.aborted) return;
      setPicture(iconUrl);
      fail(error instanceof UploadFailure ? error : new UploadFailure('Upload failed', 'There was an error uploading your file.'));
    }
    setSending(null);
  };

  return {
    iconUrl,
    picture,
    sending,
    failure,
    choose: (file) => void choose(file),
    cancel: () => {
      stop();
      setPicture(iconUrl);
    },
    remove: () => {
      stop();
      setIconUrl(null);
      setPicture(null);
    },
  };
}

/** The pages' policy lets images be data, not blobs. */
function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsDataURL(file);
  });
}
