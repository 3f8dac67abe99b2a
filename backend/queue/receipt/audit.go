package receipt

import (
	"bytes"
	"encoding/json"
	"time"

	"deskbell/backend/human"
)

// An Audit is what reading a whole journal found.
type Audit struct {
	Entries  uint64         `json:"entries"`
	Receipts uint64         `json:"receipts"`
	Found    []AuditFinding `json:"found" doc:"What was changed, removed or added, in order; at most 100."`
	More     int            `json:"more,omitempty" doc:"How many findings there are besides."`
	Removed  uint64         `json:"removed,omitempty" doc:"The entries whose words retention or an operator removed: each is named, with its link, by an entry that the server signed."`
	Sound    uint64         `json:"sound" doc:"The receipts with numbers up to this one are as they were written, and so is the journal up to them."`

	RemovedAt *time.Time `json:"removed_at,omitempty" doc:"When the last of them were removed."`

	Gaps []AuditGap `json:"gaps,omitempty" doc:"What a repair of the database could not bring back, in order."`

	Head      *Checkpoint `json:"head,omitempty" doc:"The log's head in the last receipt."`
	SoundHead *Checkpoint `json:"sound_head,omitempty" doc:"The same of the last receipt that is as it was written: whoever kept a later one can show that it was removed or changed."`
}

// An AuditFinding is one thing that does not fit.
type AuditFinding struct {
	Seq       uint64            `json:"seq,omitempty" doc:"The entry's number in the journal."`
	Operation human.OperationID `json:"operation_id,omitempty"`
	At        time.Time         `json:"at,omitzero" doc:"When it happened, as far as that can be read."`
	human.Sentence
}

// An AuditGap is a run of entries that a repair of the database could not bring back. Link is that of the last of them.
type AuditGap struct {
	First uint64    `json:"first" doc:"The number of the first entry that is missing."`
	Last  uint64    `json:"last"`
	At    time.Time `json:"at" doc:"When the database was repaired."`
	Link  Link      `json:"-"`
}

// Stored is one entry as a journal keeps it. Next is the link that it must have after another.
type Stored struct {
	Entry   human.Entry
	Damaged error // it cannot be read
	Link    []byte
	Next    func(Link) Link
	Proof   []byte // of its receipt; empty without
	Emptied bool   // it has no words
	Removal []byte // of an entry that was emptied: the event, as JSON, that says that its operation was removed; empty without
}

// An Auditor is given every entry of a journal in order.
type Auditor struct {
	trust Trust
	audit Audit
	seq   uint64
	link  Link
	log   Log
	sound uint64      // receipts before the entry that is looked at
	kept  *Checkpoint // the head in the last of them
	skips bool        // receipts may be missing before the next: there was a gap
	began bool        // since the first receipt, or the server's first key, every answer has one

	removals map[human.OperationID]*removal // read lately
}

// NewAuditor begins an audit. trust has every key that the server ever signed with.
func NewAuditor(trust Trust) *Auditor {
	return &Auditor{trust: trust, audit: Audit{Found: []AuditFinding{}}}
}

// NewAuditorAfter begins an audit behind a receipt: with the entry after its own.
func NewAuditorAfter(trust Trust, last LogProof) *Auditor {
	a := NewAuditor(trust)
	a.seq, a.log, a.began = last.Checkpoint.JournalSeq, ResumeLog(last), true
	if sum, err := parseHash(last.Checkpoint.JournalHash); err == nil {
		copy(a.link[:], sum)
	}
	return a
}

// Gap has the audit continue behind entries that a repair could not bring back, if they are what follows.
func (a *Auditor) Gap(g AuditGap) {
	if g.First != a.seq+1 {
		return
	}
	a.seq, a.link, a.skips = g.Last, g.Link, true
	a.audit.Gaps = append(a.audit.Gaps, g)
}

const maxFound = 100

func (a *Auditor) found(e human.Entry, says human.Sentence) {
	if len(a.audit.Found) == 0 {
		a.audit.Sound, a.audit.SoundHead = a.sound, a.kept
	}
	if len(a.audit.Found) == maxFound {
		a.audit.More++
		return
	}
	a.audit.Found = append(a.audit.Found, AuditFinding{e.Seq, e.ID, e.Event.At, says})
}

// Entry looks at the next one.
func (a *Auditor) Entry(s Stored) {
	e := s.Entry
	a.audit.Entries++
	a.sound, a.kept = a.log.size, a.audit.Head
	vouched := false
	switch {
	case e.Seq == a.seq+2:
		a.found(human.Entry{Seq: a.seq + 1}, human.Sayf("entry %d was removed", a.seq+1))
	case e.Seq != a.seq+1:
		a.found(human.Entry{Seq: a.seq + 1}, human.Sayf("entries %d to %d were removed", a.seq+1, e.Seq-1))
	case s.Emptied:
		vouched = a.emptied(s)
	case !bytes.Equal(sliceOf(s.Next(a.link)), s.Link):
		a.found(e, human.Sayf("entry %d (version %d of operation %s) was changed, or the entries before it were", e.Seq, e.Version, e.ID))
	}
	if s.Damaged != nil {
		a.found(e, human.Sayf("entry %d cannot be read: %s", e.Seq, human.Inner{Err: s.Damaged}))
	}
	if since := a.trust.Since; !since.IsZero() && !e.Event.At.Before(since) {
		a.began = true
	}
	a.seq = e.Seq
	copy(a.link[:], s.Link) // as stored, so that one change is one finding
	if e.Event.Type == human.Erased && s.Damaged == nil {
		a.removal(e)
	}
	if vouched && len(s.Proof) == 0 {
		return
	}
	if e.Event.Receipt == nil && len(s.Proof) == 0 {
		if a.began && s.Damaged == nil && mustHave(e.Event) {
			a.found(e, human.Sayf("the answer of entry %d has no receipt", e.Seq))
		}
		return
	}
	a.began = true
	a.audit.Receipts++
	if s.Damaged == nil {
		a.receipt(s)
	}
}

// mustHave says of an event alone whether it has a receipt: of a vote that ended its operation the end has it.
func mustHave(e human.Event) bool {
	return e.Type != human.Voted && Answers(e, nil)
}

func (a *Auditor) receipt(s Stored) {
	e := s.Entry
	if e.Event.Receipt == nil && !s.Emptied {
		a.found(e, human.Sayf("the receipt of entry %d was removed from it", e.Seq))
		return
	}
	var proof LogProof
	if len(s.Proof) == 0 || json.Unmarshal(s.Proof, &proof) != nil {
		a.found(e, human.Sayf("the receipt of entry %d was removed from the log of receipts", e.Seq))
		return
	}
	var r Receipt
	if e.Event.Receipt != nil {
		if err := json.Unmarshal(e.Event.Receipt.RawMessage, &r); err != nil {
			a.found(e, human.Sayf("the receipt of entry %d cannot be read", e.Seq))
			return
		}
	}
	head := proof.Checkpoint
	skipped := a.skips && proof.LeafIndex >= a.log.size
	a.skips = false
	switch {
	case skipped && head.JournalSeq == e.Seq && head.Covers(a.link[:]):
		// Those between are missing with their entries.
	case proof.LeafIndex != a.log.size:
		a.found(e, human.Sayf("the receipt of entry %d is number %d of the log of receipts, and number %d is due: receipts were removed, added or reordered", e.Seq, proof.LeafIndex+1, a.log.size+1))
	case head.PrevReceiptHash != "" && bare(head.PrevReceiptHash) != a.log.last:
		a.found(e, human.Sayf("the receipt of entry %d (number %d) does not follow the one before it", e.Seq, proof.LeafIndex+1))
	case head.JournalSeq != e.Seq || !head.Covers(a.link[:]):
		a.found(e, human.Sayf("the receipt of entry %d (number %d) signed another journal than this one", e.Seq, proof.LeafIndex+1))
	}
	a.log, a.audit.Head = ResumeLog(proof), &head
	if s.Emptied { // what it said is gone; its place in the log is not
		if err := a.trust.checkProof(proof); err != nil {
			a.found(e, human.Sayf("the receipt of entry %d (number %d) is not authentic: %s", e.Seq, proof.LeafIndex+1, human.Inner{Err: err}))
		}
		return
	}
	whole, err := Place(e.Event.Receipt, s.Proof)
	if err != nil {
		a.found(e, human.Sayf("the receipt of entry %d cannot be read", e.Seq))
		return
	}
	for _, c := range Verify(whole.RawMessage, a.trust).Checks {
		if !c.OK && c.Name != checkApproved {
			a.found(e, human.Sayf("the receipt of entry %d (number %d) is not authentic: %s", e.Seq, proof.LeafIndex+1, human.Inner{Err: &human.Error{Msg: c.Detail, Said: *c.Said}}))
			return
		}
	}
}

// Done ends the audit. head is the last entry that the journal knows of, strays are receipts whose entries are gone.
func (a *Auditor) Done(head uint64, strays int) Audit {
	a.sound, a.kept = a.log.size, a.audit.Head
	if a.seq+1 == head {
		a.found(human.Entry{Seq: head}, human.Sayf("entry %d was removed", head))
	} else if a.seq < head {
		a.found(human.Entry{Seq: a.seq + 1}, human.Sayf("entries %d to %d were removed", a.seq+1, head))
	}
	if strays > 0 {
		a.found(human.Entry{}, human.Sayf("%d receipts have no entry in the journal", strays))
	}
	if len(a.audit.Found) == 0 {
		a.audit.Sound, a.audit.SoundHead = a.log.size, a.audit.Head
	}
	return a.audit
}

func sliceOf(l Link) []byte { return l[:] }

// Covers says whether a checkpoint signed a journal with this link.
func (c Checkpoint) Covers(link []byte) bool {
	sum, err := parseHash(c.JournalHash)
	return err == nil && bytes.Equal(sum, link)
}

// Place is a receipt with its place in the log.
func Place(r *human.Receipt, proof json.RawMessage) (human.Receipt, error) {
	if r == nil {
		return human.Receipt{}, human.Errorf(human.Internal, "a receipt is missing in the journal; run `deskbell doctor`")
	}
	var whole struct {
		ReceiptID         json.RawMessage `json:"receipt_id"`
		Action            json.RawMessage `json:"action"`
		ActionHash        json.RawMessage `json:"action_hash"`
		Contexts          json.RawMessage `json:"contexts"`
		Signoffs          json.RawMessage `json:"signoffs"`
		Consumption       json.RawMessage `json:"consumption"`
		LogProof          json.RawMessage `json:"log_proof"`
		ApproverKeyProofs json.RawMessage `json:"approver_key_proofs,omitempty"`
	}
	if err := json.Unmarshal(r.RawMessage, &whole); err != nil {
		return human.Receipt{}, human.Wrap(human.Internal, err, "a receipt in the journal cannot be read; run `deskbell doctor`")
	}
	whole.LogProof = proof
	raw, err := json.Marshal(whole)
	return human.Receipt{RawMessage: raw}, err
}
