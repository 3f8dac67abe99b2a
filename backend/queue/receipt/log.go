package receipt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// merkleAlg names how the log's tree is hashed: a leaf is SHA-256 of 0x00 and the receipt's canonical JSON, a node SHA-256 of
// 0x01 and the hex text of both its children. Its shape is that of RFC 6962.
const merkleAlg = "EP-MERKLE-v2"

// A Step is one sibling on the way from a leaf to the root.
type Step struct {
	Hash     string `json:"hash"`
	Position string `json:"position" enum:"left,right"`
}

// A Checkpoint is the head of the log just after a receipt was added, signed by the server. It signs the journal as well, up to
// the answer: prev_receipt_hash, journal_seq and journal_hash are Deskbell's own.
type Checkpoint struct {
	JournalHash     string `json:"journal_hash" doc:"The journal's chain up to and with it."`
	JournalSeq      uint64 `json:"journal_seq" doc:"The answer's place in the journal."`
	LogKeyID        string `json:"log_key_id"`
	LogSignature    string `json:"log_signature,omitempty"`
	MerkleAlg       string `json:"merkle_alg"`
	PrevReceiptHash string `json:"prev_receipt_hash,omitempty" doc:"The leaf_hash of the receipt before; absent in the first."`
	RootHash        string `json:"root_hash"`
	TreeSize        uint64 `json:"tree_size"`
}

// A LogProof shows that a receipt is in the log.
type LogProof struct {
	Alg           string     `json:"alg"`
	Checkpoint    Checkpoint `json:"checkpoint"`
	InclusionPath []Step     `json:"inclusion_path"`
	LeafHash      string     `json:"leaf_hash"`
	LeafIndex     uint64     `json:"leaf_index"`
}

// A Log is the head of the log of receipts: what the next one needs. The zero Log is empty. It is a value.
type Log struct {
	size  uint64
	roots []string // of the full trees that the leaves fill, the largest first: one for each bit of size
	last  string   // the leaf before
}

// Size is how many receipts the log has.
func (l Log) Size() uint64 { return l.size }

// ResumeLog is the log whose last receipt has this proof.
func ResumeLog(last LogProof) Log {
	before := Log{size: last.LeafIndex}
	for _, step := range slices.Backward(last.InclusionPath) {
		before.roots = append(before.roots, bare(step.Hash))
	}
	return before.add(bare(last.LeafHash))
}

// add is the log with one more leaf.
func (l Log) add(leaf string) Log {
	roots, node := slices.Clone(l.roots), leaf
	for n := l.size; n&1 == 1; n >>= 1 {
		node = nodeHash(roots[len(roots)-1], node)
		roots = roots[:len(roots)-1]
	}
	return Log{size: l.size + 1, roots: append(roots, node), last: leaf}
}

// Append adds the receipt whose Leaf is given, and returns the log after it and its proof, signed by key. seq and link are the
// place of the answer's event in the journal, and the journal's chain there.
func (l Log) Append(leaf string, key *Key, seq uint64, link Link) (Log, LogProof, error) {
	proof := LogProof{
		Alg: merkleAlg, LeafHash: hashPrefix + leaf, LeafIndex: l.size, InclusionPath: []Step{},
		Checkpoint: Checkpoint{
			TreeSize: l.size + 1, MerkleAlg: merkleAlg, LogKeyID: key.ID, JournalSeq: seq, JournalHash: hashPrefix + hex.EncodeToString(link[:]),
		},
	}
	if l.last != "" {
		proof.Checkpoint.PrevReceiptHash = hashPrefix + l.last
	}
	root := leaf // of all full trees to its left, from the smallest
	for _, left := range slices.Backward(l.roots) {
		proof.InclusionPath = append(proof.InclusionPath, Step{left, "left"})
		root = nodeHash(left, root)
	}
	proof.Checkpoint.RootHash = hashPrefix + root
	sum, err := hashed(proof.Checkpoint)
	if err != nil {
		return l, LogProof{}, unwritten(err)
	}
	proof.Checkpoint.LogSignature = key.sign(sum)
	return l.add(leaf), proof, nil
}

func leafHash(canonical []byte) string {
	sum := sha256.Sum256(slices.Concat([]byte{0}, canonical))
	return hex.EncodeToString(sum[:])
}

func nodeHash(left, right string) string {
	sum := sha256.Sum256([]byte("\x01" + left + right))
	return hex.EncodeToString(sum[:])
}

// rootOf follows a path from a leaf.
func rootOf(leaf string, path []Step) (string, error) {
	if len(path) > maxPath {
		return "", errPath
	}
	node := leaf
	for _, step := range path {
		switch step.Position {
		case "left":
			node = nodeHash(bare(step.Hash), node)
		case "right":
			node = nodeHash(node, bare(step.Hash))
		default:
			return "", errPath
		}
	}
	return node, nil
}

const maxPath = 64

var errPath = human.Errorf(human.Invalid, "the inclusion path is malformed")

// A Link is the journal's chain up to one entry: it changes with every byte of it, and of all before it.
type Link [sha256.Size]byte

// Next is the link after another one, of the entry at seq. columns are what the journal keeps of it.
func (l Link) Next(seq, version uint64, columns ...[]byte) Link {
	h := sha256.New()
	var n [8]byte
	number := func(i uint64) {
		binary.BigEndian.PutUint64(n[:], i)
		h.Write(n[:])
	}
	h.Write([]byte("deskbell journal 1\n"))
	h.Write(l[:])
	number(seq)
	number(version)
	for _, column := range columns {
		number(uint64(len(column)))
		h.Write(column)
	}
	return Link(h.Sum(nil))
}

// bare is a hash without its prefix.
func bare(hash string) string { return strings.TrimPrefix(hash, hashPrefix) }
