import { useValue } from "../api/value-store.ts";
import { chooseLanguage, language, useWords } from "../i18n/language.ts";
import { OpenedFileBadge } from "../opened/file-drop.tsx";
import { Icon } from "../parts/icon.tsx";
import { usePlace } from "../place/place.ts";
import { PlaceLink } from "../place/place-link.tsx";
import { useAccess } from "./access.ts";
import { type Screen, screens } from "./screens.ts";
import { chooseTheme, theme, themes } from "./theme.ts";
import { shellWords } from "./words.ts";

function ScreenLink({ screen, chosen }: { readonly screen: Screen; readonly chosen: boolean }) {
  const { title } = useWords(screen.title);
  return (
    <PlaceLink
      className="bar-link"
      to={{ screen: chosen ? undefined : screen.name }}
      {...(chosen && { current: "page" as const })}
    >
      <Icon name={screen.icon} />
      <span className="bar-word">{title}</span>
    </PlaceLink>
  );
}

/** Name of the page, screens, colours, language and help. */
export function TopBar({ onHelp }: { readonly onHelp: () => void }) {
  const words = useWords(shellWords);
  const place = usePlace();
  const access = useAccess();
  const mayOnlyRead = access?.readOnly === true || access?.scope === "read";
  const chosenTheme = useValue(theme);
  const chosenLanguage = useValue(language);
  const nextTheme = themes[(themes.indexOf(chosenTheme) + 1) % themes.length] ?? "system";
  const themeName = {
    system: words.themeSystem,
    light: words.themeLight,
    dark: words.themeDark,
  }[chosenTheme];
  return (
    <header className="top-bar">
      <h1 className="brand-heading">
        <PlaceLink className="brand" to={{ thread: undefined, screen: undefined, at: undefined }}>
          <Icon name="thread" size={18} />
          Threadfold
        </PlaceLink>
      </h1>
      <OpenedFileBadge />
      {access?.readOnly && (
        <span className="badge" title={words.readOnlyHint}>
          <Icon name="lock" size={13} />
          {words.readOnly}
        </span>
      )}
      <nav className="bar-links" aria-label={words.screens}>
        {screens
          .filter(({ changes }) => !changes || !mayOnlyRead)
          .map((screen) => (
            <ScreenLink key={screen.name} screen={screen} chosen={place.screen === screen.name} />
          ))}
      </nav>
      <div className="bar-tools">
        <button
          type="button"
          className="icon-button"
          title={words.languageHint}
          lang={chosenLanguage === "zh" ? "en" : "zh-CN"}
          onClick={() => chooseLanguage(chosenLanguage === "zh" ? "en" : "zh")}
        >
          <Icon name="globe" />
          <span className="bar-word">{words.language}</span>
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={themeName}
          title={themeName}
          onClick={() => chooseTheme(nextTheme)}
        >
          <Icon name={chosenTheme === "dark" ? "moon" : chosenTheme === "light" ? "sun" : "auto"} />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={words.help}
          title={words.help}
          onClick={onHelp}
        >
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}
