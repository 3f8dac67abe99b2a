package record

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"deskbell/backend/human"
)

const (
	batchSize  = 1024             // events that are stored without waiting for the next tick
	maxPending = 64 << 10         // events kept in memory while the store is slow; the sources' queue fills after that
	storeTime  = 10 * time.Second // for one append
)

// A writer numbers the events of a recording and stores them in batches, beside the loop, which never waits for the
// disk. It turns what is missing into gaps. Only the loop uses it, but for durable.
type writer struct {
	loop   *loop
	store  Store
	log    *slog.Logger
	status *status

	pending []human.RecordedEvent
	writing bool       // an append is under way,
	written chan error // and its outcome comes here
	flushed uint64     // seq of the last event that was handed to the store,
	stored  uint64     // and of the last that it has
	awaited []awaited
	closed  bool  // nothing is handed to the store any more but by storeLast
	failure error // why the recording could not be stored any more; for everybody once the loop is over
}

// awaited is a seq that a caller waits for until it is stored.
type awaited struct {
	seq    uint64
	stored chan struct{}
}

// durable has f called by the loop and waits until what it stored is on disk.
func (w *writer) durable(ctx context.Context, f func() error) error {
	stored := make(chan struct{})
	if err := w.loop.do(ctx, func() error {
		if err := f(); err != nil {
			return err
		}
		w.awaited = append(w.awaited, awaited{w.status.rec.Counts.Events, stored})
		w.flush()
		w.releaseAwaited()
		return nil
	}); err != nil {
		return err
	}
	select {
	case <-stored:
		return nil
	case <-w.loop.over:
		if w.status.discarded {
			return human.Errorf(human.Conflict, "recording %s has been discarded", w.loop.id)
		}
		return w.failure
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "recording %s did not answer in time", w.loop.id)
	}
}

// releaseAwaited ends the wait of those whose events are stored.
func (w *writer) releaseAwaited() {
	w.awaited = slices.DeleteFunc(w.awaited, func(a awaited) bool {
		if a.seq > w.stored {
			return false
		}
		close(a.stored)
		return true
	})
}

// useless says whether nothing more of the recording can be stored, or is to be.
func (w *writer) useless() bool { return w.failure != nil || w.status.discarded }

// full says whether no more events should come for now.
func (w *writer) full() bool { return len(w.pending) >= maxPending }

// add gives an event its seq, to be stored with the next batch. Its At counts from the start already.
func (w *writer) add(e human.RecordedEvent) uint64 {
	rec := &w.status.rec
	rec.Counts.Events++
	e.Seq = rec.Counts.Events
	rec.Span = max(rec.Span, e.At)
	rec.Bytes += weight(e)
	w.pending = append(w.pending, e)
	if len(w.pending) >= batchSize {
		w.flush()
	}
	return e.Seq
}

// addOwn adds an event of the recorder itself that happens now.
func (w *writer) addOwn(e human.RecordedEvent) {
	e.At, e.Source = w.loop.now(), human.RecorderSource
	w.add(e)
}

// weight is about what an event takes on disk, in bytes.
func weight(e human.RecordedEvent) int64 {
	n := 24 + len(e.Text) // compressed, most are smaller than their JSON by far
	if e.Window != nil {
		n += len(e.Window.Title) + 40
	}
	if e.Element != nil {
		n += 60 + len(e.Element.Name) + len(e.Element.Beside) + 24*len(e.Element.Ancestry)
	}
	if e.File != nil {
		n += len(e.File.Path) + len(e.File.To)
	}
	if e.Source == human.BrowserSource {
		n += 200 + len(e.DOM)/4 // a page's DOM packs well
		if e.Pick != nil {
			n += len(e.Pick.Text)
		}
	}
	return int64(n)
}

// flush hands the pending events and what changed in the header to the store, one batch at a time, and never waits.
func (w *writer) flush() {
	if w.writing || w.closed || len(w.pending) == 0 && !w.status.unsaved || w.useless() {
		return
	}
	batch, header := w.pending, w.status.header()
	w.flushed = w.status.rec.Counts.Events
	w.pending, w.status.unsaved, w.writing = nil, false, true
	w.loop.workers.Go(func() {
		// Giving it up halfway would leave it unknown whether it was stored.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.loop.working), storeTime)
		defer cancel()
		w.written <- w.store.Append(ctx, header, batch)
	})
}

// wrote takes the outcome of an append, and returns false when the recording cannot go on.
func (w *writer) wrote(err error) bool {
	w.writing = false
	if err != nil {
		w.fail(err)
		return false
	}
	w.stored = w.flushed
	w.releaseAwaited()
	if len(w.pending) >= batchSize || len(w.awaited) > 0 {
		w.flush()
	}
	return true
}

// fail notes that the recording cannot be stored any more.
func (w *writer) fail(err error) {
	if w.useless() {
		return
	}
	w.log.Error("a recording could not be stored", "recording", w.loop.id, "err", err)
	w.failure = human.Wrap(human.Internal, err,
		"recording %s could not be stored any further and has ended; what was stored before is kept. Is the disk full?", w.loop.id)
	w.status.rec.Reason = "failed" // it may have been stopping for a better reason
}

// gap notes a stretch that is complete.
func (w *writer) gap(g human.Gap) {
	rec := &w.status.rec
	if n := len(rec.Gaps); n > 0 && continues(rec.Gaps[n-1], g) {
		last := &rec.Gaps[n-1]
		last.To, last.Count = g.To, last.Count+g.Count
	} else {
		rec.Gaps = append(rec.Gaps, g)
	}
	w.add(human.RecordedEvent{At: g.From, Source: human.RecorderSource, Type: human.GapOpened, Gap: &g})
}

// continues says whether a gap is shown as one with the last.
func continues(last, g human.Gap) bool {
	return g.Reason == "overflow" && last.Reason == g.Reason && last.Source == g.Source && g.From-last.To < int64(time.Second)
}

// lose notes that something of a source was lost between a time and now because there was no room for it.
func (w *writer) lose(source human.SourceName, from int64, count uint64) {
	w.status.rec.Counts.Lost += count
	w.gap(human.Gap{From: from, To: w.loop.now(), Source: source, Reason: "overflow", Count: count})
}

// openGap begins a stretch in which something is missing; one that is open already stays.
func (w *writer) openGap(reason string, source human.SourceName) {
	key := gapKey(reason, source)
	if w.status.gaps[key] == nil {
		w.status.gaps[key] = &human.Gap{From: w.loop.now(), Source: source, Reason: reason}
	}
}

// closeGap ends such a stretch, and says whether there was one.
func (w *writer) closeGap(reason string, source human.SourceName) bool {
	key := gapKey(reason, source)
	g := w.status.gaps[key]
	if g == nil {
		return false
	}
	delete(w.status.gaps, key)
	g.To = w.loop.now()
	w.gap(*g)
	return true
}

func (w *writer) closeGaps() {
	for _, g := range slices.SortedFunc(maps.Values(w.status.gaps), func(a, b *human.Gap) int { return cmp.Compare(a.From, b.From) }) {
		w.closeGap(g.Reason, g.Source)
	}
}

// settle takes the outcome of the append that is under way, if there is one. Nothing works beside the loop any more.
func (w *writer) settle() {
	if !w.writing {
		return
	}
	w.writing = false
	if err := <-w.written; err != nil {
		w.fail(err)
	} else {
		w.stored = w.flushed
	}
}

// storeLast stores what is pending, and returns how many events of each source the store has, nil where that is not
// known. The header counts what is stored from then on.
func (w *writer) storeLast(ctx context.Context) map[human.SourceName]uint64 {
	rec := &w.status.rec
	if w.failure == nil {
		if err := w.store.Append(ctx, w.status.header(), w.pending); err != nil {
			w.fail(err)
		} else {
			w.stored = rec.Counts.Events
		}
	}
	counts, err := w.store.CountEvents(ctx, w.loop.id)
	if err != nil {
		w.log.Error("the events of a recording could not be counted", "recording", w.loop.id, "err", err)
		counts = nil
	}
	rec.Counts.Events = w.stored
	return counts
}

// storeHeader stores the recording's header alone.
func (w *writer) storeHeader(ctx context.Context) {
	var err error
	for range 3 {
		if err = w.store.Append(ctx, w.status.header(), nil); err == nil {
			return
		}
	}
	w.fail(err)
}
