// What a person does by the controls of a player itself. Their clicks reach no page and no script: that it was a person follows from
// where the pointer or the keyboard is, and from nothing else having been touched. It runs in the recorder's own world.
(function media(elements, tell, sight) {
  'use strict';

  const matches = Element.prototype.matches;
  const settled = 400; // ms without a change in which a player has come to its state
  const cause = 1000; // ms in which a script answers a press or a key elsewhere
  let touch = { e: null, at: -1e9 }; // what was pressed, or had the keyboard, last
  let burst = null; // changes of one player that belong together
  const known = new WeakMap(); // the volume and the speed of players, as they were last

  /** A press or a key that was heard. */
  function touched(event) {
    touch = { e: event.composedPath()[0], at: event.timeStamp };
  }

  const byPerson = (e, at) =>
    elements.has(e, 'controls') && navigator.userActivation.isActive && (touch.e === e || at - touch.at > cause) && (matches.call(e, ':hover') || matches.call(e, ':focus') || touch.e === e);

  function changed(event) {
    const e = event.type === 'fullscreenchange' ? document.fullscreenElement || (burst && burst.e) || event.target : event.target;
    if (!(e instanceof HTMLMediaElement)) return;
    const was = known.get(e) || { volume: 100, muted: e.defaultMuted, rate: e.defaultPlaybackRate };
    if (!byPerson(e, event.timeStamp)) return keep(e);
    if (!burst || burst.e !== e) {
      const paused = event.type === 'play' || (event.type !== 'pause' && e.paused);
      burst = { e, at: event.timeStamp, was: { ...was, paused }, timer: 0, seeks: false, full: false };
    }
    burst.seeks = burst.seeks || event.type === 'seeked';
    burst.full = burst.full || event.type === 'fullscreenchange';
    clearTimeout(burst.timer);
    burst.timer = setTimeout(ends, settled);
  }

  function keep(e) {
    if (!burst || burst.e !== e) known.set(e, { volume: Math.round(e.volume * 100), muted: e.muted, rate: e.playbackRate });
  }

  function ends() {
    if (!burst) return;
    const { e, at, was, seeks, full } = burst;
    clearTimeout(burst.timer);
    burst = null;
    keep(e);
    const is = known.get(e);
    const element = sight.seen(e, elements.describe(e));
    const say = (...values) => tell(at, { type: 'page_media', element, values });
    if (seeks && !e.ended) say('seek', String(Math.round(e.currentTime * 10) / 10));
    if (e.paused !== was.paused && !e.ended) say(e.paused ? 'pause' : 'play');
    if (is.muted !== was.muted) say(is.muted ? 'mute' : 'unmute');
    else if (is.volume !== was.volume) say('volume', String(is.volume));
    if (is.rate !== was.rate) say('speed', String(is.rate));
    if (full) say(document.fullscreenElement === e ? 'fullscreen' : 'window');
  }

  return { touched, changed, ends };
})
