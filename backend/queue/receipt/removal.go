package receipt

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"deskbell/backend/human"
)

// SignRemoval signs that the words of an operation's entries were removed then: what Auditor takes for entries without words.
func (k *Key) SignRemoval(id human.OperationID, at time.Time, r *human.Removal) error {
	r.KeyID = k.ID
	hash, err := removalHash(id, at, *r)
	if err == nil {
		r.Signature = k.sign(hash)
	}
	return err
}

// checkRemoval returns an error where none of the keys that are trusted signed the removal.
func (t Trust) checkRemoval(id human.OperationID, at time.Time, r *human.Removal) error {
	if r == nil {
		return errSignature
	}
	hash, err := removalHash(id, at, *r)
	if err != nil {
		return err
	}
	public, is := t.LogKeys[r.KeyID]
	if !is {
		return human.Errorf(human.Invalid, "the key %s is not one of this Deskbell", human.OneLine(r.KeyID, 80))
	}
	return checkEd25519(public, hash, r.Signature)
}

// removalHash is the hash of what is signed.
func removalHash(id human.OperationID, at time.Time, r human.Removal) (string, error) {
	r.Signature = ""
	text, err := json.Marshal(struct {
		What      string            `json:"what"`
		Operation human.OperationID `json:"operation_id"`
		At        time.Time         `json:"at"`
		Removal   human.Removal     `json:"removal"`
	}{"deskbell: the words of an operation were removed", id, at.UTC(), r})
	if err != nil {
		return "", human.Wrap(human.Internal, err, "the removal of operation %s cannot be written as JSON", id)
	}
	return hashOf(text), nil
}

// RemovedLink writes a link as a removal has it.
func RemovedLink(l Link) string { return hashPrefix + hex.EncodeToString(l[:]) }

// A removal is one that an Auditor has read.
type removal struct {
	text    []byte
	at      time.Time
	entries []human.RemovedEntry
	err     error
}

// removalsKept bounds those that an Auditor remembers: the entries of an operation mostly stand near each other.
const removalsKept = 1024

// removalOf reads and checks the one that the journal has for an operation.
func (a *Auditor) removalOf(id human.OperationID, text []byte) *removal {
	if r := a.removals[id]; r != nil && bytes.Equal(r.text, text) {
		return r
	}
	r := &removal{text: bytes.Clone(text)}
	var e human.Event
	if r.err = json.Unmarshal(text, &e); r.err == nil {
		r.err = a.trust.checkRemoval(id, e.At, e.Removal)
	}
	if r.err == nil {
		r.at, r.entries = e.At, e.Removal.Entries
	}
	if a.removals == nil || len(a.removals) >= removalsKept {
		a.removals = map[human.OperationID]*removal{}
	}
	a.removals[id] = r
	return r
}

// emptied looks at an entry without words, and says whether the server signed that it removed them.
func (a *Auditor) emptied(s Stored) bool {
	e := s.Entry
	if len(s.Removal) == 0 {
		a.found(e, human.Sayf("entry %d (version %d of operation %s) was emptied, and no entry says that Deskbell did it", e.Seq, e.Version, e.ID))
		return false
	}
	r := a.removalOf(e.ID, s.Removal)
	if r.err != nil {
		a.found(e, human.Sayf("entry %d (version %d of operation %s) was emptied, and the entry that says so was not signed by this Deskbell", e.Seq, e.Version, e.ID))
		return false
	}
	named := human.RemovedEntry{Seq: e.Seq, Link: RemovedLink(linkOf(s.Link)), Left: RemovedLink(s.Next(a.link))}
	if !slices.Contains(r.entries, named) {
		a.found(e, human.Sayf("entry %d (version %d of operation %s) was emptied by Deskbell on %s, and then changed, or the entries before it were", e.Seq, e.Version, e.ID, r.at.Format(time.DateOnly)))
		return false
	}
	a.audit.Removed++
	if a.audit.RemovedAt == nil || r.at.After(*a.audit.RemovedAt) {
		a.audit.RemovedAt = &r.at
	}
	return true
}

// removal looks at an entry that says that its operation was removed.
func (a *Auditor) removal(e human.Entry) {
	if a.trust.checkRemoval(e.ID, e.Event.At, e.Event.Removal) != nil {
		a.found(e, human.Sayf("entry %d says that operation %s was removed, and was not signed by this Deskbell", e.Seq, e.ID))
	}
}

// checkProof checks the place of a receipt that is gone, as Verify does of one that is there.
func (t Trust) checkProof(p LogProof) error {
	if err := placed(p.LeafIndex, p.Checkpoint.TreeSize, p.InclusionPath); err != nil {
		return err
	}
	root, err := rootOf(bare(p.LeafHash), p.InclusionPath)
	if err != nil {
		return err
	}
	head := p.Checkpoint
	if root != bare(head.RootHash) {
		return human.Errorf(human.Invalid, "the receipt is not in the log whose head it has")
	}
	public, is := t.LogKeys[head.LogKeyID]
	if !is {
		return human.Errorf(human.Invalid, "the log's key %s is not one that you trust", head.LogKeyID)
	}
	head.LogSignature = ""
	hash, err := hashed(head)
	if err != nil {
		return err
	}
	return checkEd25519(public, hash, p.Checkpoint.LogSignature)
}

func linkOf(raw []byte) (l Link) {
	copy(l[:], raw)
	return l
}
