import { Component, type ReactNode, Suspense } from 'react';
import { onConnectionBack } from '../lib/connection.ts';
import { Button } from '../ui/button.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageHeading } from '../ui/page-heading.tsx';

/** Shows a page that is loaded when needed, and in words that it could not be: without a network, or because of a fault of ours. */
export class PageBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  private end: (() => void) | undefined;

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidCatch() {
    // A browser may remember that a module could not be loaded, so that only a new page gets it.
    this.end ??= onConnectionBack(() => location.reload());
  }

  override componentWillUnmount() {
    this.end?.();
  }

  override render() {
    if (!this.state.failed) return <Suspense fallback={<Loading />}>{this.props.children}</Suspense>;
    return (
      <div className="mx-auto grid max-w-md justify-items-center gap-4 py-24 text-center">
        <PageHeading title="This page could not be loaded" />
        <p role="alert" className="text-muted">
          Check your connection and try again.
        </p>
        <Button look="secondary" onClick={() => location.reload()}>
          Try again
        </Button>
      </div>
    );
  }
}
