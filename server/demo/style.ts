/** The shop's stylesheet, in both themes. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #faf7f1; --card: #fffdf9; --ink: #23211d; --soft: #6a655b; --line: #e2dbcd; --accent: #1f5c4a; --on-accent: #fffdf9;
  --accent-hover: #174739; --shade: #0000000f; --sheet: #fffefb; --board: #1f5c4a; --red: #c4502e;
  --ground: #f0eadd; --harbour: #2f4f6b; --meadow: #557a46; --ember: #b8552f; --print: #fff9ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171614; --card: #1f1d1a; --ink: #efeae0; --soft: #a8a193; --line: #36322c; --accent: #8cc9b2; --on-accent: #10241d;
    --accent-hover: #a9dcc8; --shade: #00000059; --sheet: #e9e3d6; --board: #2c6a57; --red: #d9694a;
    --ground: #26231f; --harbour: #4d7396; --meadow: #6b9159; --ember: #c46a43; --print: #f6eeda;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100vh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: 16px/1.6 ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; -webkit-text-size-adjust: 100%;
}
header, main, footer { width: 100%; max-width: 1040px; margin: 0 auto; padding: 0 24px; }
main { flex: 1; }
h1, h2, h3, .brand { font-family: 'Iowan Old Style', 'Palatino Linotype', Palatino, Georgia, serif; font-weight: 600; letter-spacing: -0.01em; }
h1 { font-size: clamp(2rem, 5.2vw, 3.1rem); line-height: 1.12; text-wrap: balance; }
h2 { font-size: 1.35rem; }
h3 { font-size: 1.1rem; }
a { color: inherit; text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
code { font: 0.86em/1.4 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; overflow-wrap: anywhere; }

.ribbon { padding: 9px 24px; text-align: center; font-size: 0.84rem; color: var(--soft); border-bottom: 1px solid var(--line); }
.ribbon a { display: inline-block; padding: 3px 0; color: var(--ink); white-space: nowrap; }
header { display: flex; align-items: center; justify-content: space-between; min-height: 76px; }
.brand { display: inline-flex; align-items: center; gap: 9px; min-height: 44px; font-size: 1.3rem; text-decoration: none; }
.mark { width: 20px; height: 20px; fill: var(--accent); }

.button {
  display: inline-flex; align-items: center; justify-content: center; gap: 10px; min-height: 48px; padding: 0 22px; border: 1px solid transparent;
  border-radius: 8px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--accent-hover); }
.small { min-height: 44px; padding: 0 18px; font-size: 0.94rem; }
.plain { background: transparent; border-color: var(--line); color: var(--ink); }
.plain:hover { background: var(--card); border-color: var(--soft); }
.envelope { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 12px 24px; margin-top: 28px; }
.quiet { display: inline-flex; align-items: center; min-height: 44px; color: var(--soft); }

.hero { display: grid; grid-template-columns: 1.1fr 0.9fr; gap: 48px; align-items: center; padding: 44px 0 64px; }
.hero p { max-width: 30rem; color: var(--soft); font-size: 1.08rem; }
.hero h1 { margin-bottom: 18px; }
.hero .button { color: var(--on-accent); font-size: 1rem; }
.book { width: 100%; max-width: 400px; justify-self: end; }
.shade { fill: var(--shade); }
.board { fill: var(--board); }
.sheet { fill: var(--sheet); stroke: #0000001f; }
.rule { fill: none; stroke: #00000026; stroke-width: 1.5; stroke-linecap: round; }
.ribbon-mark { fill: var(--red); }

.welcome, .notice { max-width: 40rem; padding: 36px 0 56px; }
.welcome h1, .notice h1 { font-size: clamp(1.8rem, 4vw, 2.4rem); margin-bottom: 12px; }
.welcome h2 { margin-top: 36px; }
.notice { padding: 56px 0 88px; }
.notice p { color: var(--soft); font-size: 1.05rem; }
.notice .button { color: var(--on-accent); font-size: 1rem; }
.welcome .address, .notice .address { color: var(--ink); font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere; }
.empty { color: var(--soft); padding: 18px 0; border-bottom: 1px solid var(--line); }
details { margin-top: 12px; }
summary { display: flex; align-items: center; min-height: 44px; color: var(--soft); cursor: pointer; }
summary::before { content: '+'; width: 1.2em; font-weight: 600; }
details[open] summary::before { content: '–'; }
details ol { padding-left: 1.4em; color: var(--soft); font-size: 0.94rem; }
details li { padding: 4px 0; }
details code { color: var(--ink); }

.shelf { padding: 36px 0 72px; border-top: 1px solid var(--line); }
.shelf ul { display: grid; grid-template-columns: repeat(3, 1fr); gap: 28px; margin-top: 20px; padding: 0; list-style: none; }
.shelf li { display: grid; grid-template-columns: 1fr auto; column-gap: 12px; align-items: baseline; }
.shelf .price { font-variant-numeric: tabular-nums; }
.shelf .kind { grid-column: 1 / -1; color: var(--soft); font-size: 0.92rem; }
.cover { grid-column: 1 / -1; width: 100%; margin-bottom: 14px; border-radius: 10px; }
.ground { fill: var(--ground); }
.pages { fill: var(--sheet); }
.harbour .cloth { fill: var(--harbour); }
.meadow .cloth { fill: var(--meadow); }
.ember .cloth { fill: var(--ember); }
.spine { fill: #00000033; }
.print { fill: var(--print); }
.stroke { fill: none; stroke: var(--print); stroke-width: 2; stroke-linecap: round; }

footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 32px; padding-top: 20px; padding-bottom: 28px; color: var(--soft); font-size: 0.88rem; }
footer p { min-height: 44px; padding: 10px 0; }
.languages { display: flex; flex-wrap: wrap; gap: 0 14px; }
.languages a { display: inline-flex; align-items: center; min-height: 44px; margin: -10px 0; }

@media (max-width: 760px) {
  .hero { grid-template-columns: 1fr; gap: 24px; padding: 20px 0 44px; }
  .book { max-width: 260px; justify-self: start; grid-row: 1; }
  .shelf ul { grid-template-columns: 1fr 1fr; gap: 24px 18px; }
}
@media (max-width: 440px) {
  header, main, footer { padding-left: 18px; padding-right: 18px; }
  .shelf ul { grid-template-columns: 1fr; }
  .hero .button, .notice .button { width: 100%; }
  .languages a { margin: 0; }
  .languages span { width: 100%; }
}
@media (forced-colors: active) { .button { border-color: ButtonText; } }
`;
