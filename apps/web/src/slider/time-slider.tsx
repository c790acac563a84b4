import { Slider } from "radix-ui";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { connection } from "../api/connection.ts";
import { useValue } from "../api/value-store.ts";
import { useWords } from "../i18n/language.ts";
import { useNumber } from "../i18n/shown-time.ts";
import { useKeys } from "../keys/keys.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { go } from "../place/place.ts";
import { placeOfVersion } from "../thread-view/indexed-events.ts";
import { useShownVersion, useThreadView } from "../thread-view/use-thread.tsx";
import { useKindWord } from "../timeline/event-kinds.ts";
import { EventStrip } from "./event-strip.tsx";
import { neighbouringTurn, turnStarts } from "./turns.ts";
import { sliderWords } from "./words.ts";
import "./time-slider.css";

/** Milliseconds that a version is shown while it plays. */
const playMs = 450;

/** Moves the whole page to a version; the head is followed. */
function show(version: number, head: number): void {
  const at = Math.max(0, Math.min(head, version));
  go({ at: at === head ? undefined : String(at) }, { replace: true });
}

function Step({
  icon,
  label,
  flipped = false,
  disabled,
  onClick,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly flipped?: boolean;
  readonly disabled: boolean;
  readonly onClick: () => void;
}) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      disabled={disabled}
      data-flipped={flipped || undefined}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** The versions of the thread. Everything on the page shows the one that is chosen here. */
export function TimeSlider() {
  const words = useWords(sliderWords);
  const number = useNumber();
  const word = useKindWord();
  const { events, head } = useThreadView();
  const { version, followsHead } = useShownVersion();
  const isOffline = useValue(connection).state === "offline";
  const turns = useMemo(() => turnStarts(events), [events]);
  const [playing, setPlaying] = useState(false);
  const latest = useRef({ version, head });
  latest.current = { version, head };
  useEffect(() => {
    if (!playing) return;
    const timer = window.setInterval(() => {
      const now = latest.current;
      if (now.version >= now.head) setPlaying(false);
      else show(now.version + 1, now.head);
    }, playMs);
    return () => window.clearInterval(timer);
  }, [playing]);

  const move = (to: number) => {
    setPlaying(false);
    show(to, head);
  };
  const turn = (direction: 1 | -1) => move(neighbouringTurn(turns, version, direction, head));
  const play = () => {
    if (!playing && version >= head) show(0, head);
    setPlaying(!playing);
  };
  const { group } = words;
  useKeys([
    { keys: ["ArrowLeft"], does: words.previous, group, run: () => move(version - 1) },
    { keys: ["ArrowRight"], does: words.next, group, run: () => move(version + 1) },
    { keys: ["["], does: words.previousTurn, group, run: () => turn(-1) },
    { keys: ["]"], does: words.nextTurn, group, run: () => turn(1) },
    { keys: ["Home"], does: words.first, group, run: () => move(0) },
    { keys: ["End", "l"], does: words.liveHint, group, run: () => move(head) },
    { keys: [" "], does: words.play, group, run: play },
    { keys: ["g"], does: words.goTo, group, run: () => goTo.current?.select() },
  ]);

  const goTo = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed !== undefined && /^\d{1,12}$/.test(typed.trim())) move(Number(typed));
    setTyped(undefined);
    goTo.current?.blur();
  };
  const event = events[placeOfVersion(events, version)];
  const shownEvent = event?.version === version ? word(event.type) : version === 0 ? words.beginning : "";
  return (
    <section className="time-slider" aria-label={group}>
      <div className="time-steps">
        <Step icon="rewind" label={words.previousTurn} disabled={version === 0} onClick={() => turn(-1)} />
        <Step icon="back" label={words.previous} disabled={version === 0} onClick={() => move(version - 1)} />
        <Step
          icon={playing ? "pause" : "play"}
          label={playing ? words.pause : words.play}
          disabled={head === 0}
          onClick={play}
        />
        <Step
          icon="back"
          flipped
          label={words.next}
          disabled={version >= head}
          onClick={() => move(version + 1)}
        />
        <Step
          icon="rewind"
          flipped
          label={words.nextTurn}
          disabled={version >= head}
          onClick={() => turn(1)}
        />
      </div>
      <div className="time-track">
        <EventStrip events={events} turns={turns} head={head} />
        <Slider.Root
          className="slider"
          min={0}
          max={Math.max(head, 1)}
          step={1}
          value={[version]}
          onValueChange={([to = 0]) => move(to)}
        >
          <Slider.Track className="slider-track">
            <Slider.Range className="slider-range" />
          </Slider.Track>
          <Slider.Thumb
            className="slider-thumb"
            aria-label={words.slider}
            aria-valuetext={words.valueText(number(version), number(head), shownEvent)}
          />
        </Slider.Root>
      </div>
      <form className="time-place" onSubmit={submit}>
        <input
          ref={goTo}
          className="field"
          inputMode="numeric"
          aria-label={words.goTo}
          title={words.goTo}
          value={typed ?? String(version)}
          size={Math.max(3, String(head).length)}
          onChange={(change) => setTyped(change.target.value)}
          onBlur={() => setTyped(undefined)}
          onFocus={(focus) => focus.target.select()}
        />
        <span className="quiet">{words.of(number(head))}</span>
        <button
          type="button"
          className="live-button"
          aria-pressed={followsHead}
          data-offline={isOffline || undefined}
          title={words.liveHint}
          onClick={() => move(head)}
        >
          <span className="live-dot" aria-hidden="true" />
          {words.live}
        </button>
      </form>
    </section>
  );
}
