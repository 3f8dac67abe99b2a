package workspace

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // git's own names of objects
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	maxObject = 8 << 20 // bytes of a commit or a tree
	maxChain  = 60      // differences that an object in a pack is put together from
	maxPacks  = 200
	maxWork   = 32 << 20 // bytes of all that is unpacked for one call
	oneLook   = 4 << 10  // what looking into one more pack counts
)

// objects reads commits and trees of a repository. What it does not find, git may: ok is false then.
type objects struct {
	dir   string // the folder of objects
	known map[string]string
	packs []string // without their endings; nil before they were looked for
	work  int
}

// object returns the contents of the object with a binary name. They have that name: what a repository wrote under a name that
// is not theirs is not found.
func (o *objects) object(kind, name string) (text string, ok bool) {
	if text, ok = o.known[name]; ok {
		return text, true
	}
	found, text := o.loose(name)
	if found == "" {
		found, text = o.packed(name, 0)
	}
	if found != kind || hashOf(kind, text) != name {
		return "", false
	}
	if o.known == nil {
		o.known = map[string]string{}
	}
	o.known[name] = text
	return text, true
}

// hashOf is the binary name of an object.
func hashOf(kind, text string) string {
	h := sha1.New()
	_, _ = io.WriteString(h, kind+" "+strconv.Itoa(len(text))+"\x00")
	_, _ = io.WriteString(h, text)
	return string(h.Sum(nil))
}

func (o *objects) loose(name string) (kind, text string) {
	id := hex.EncodeToString([]byte(name))
	packed, err := small(filepath.Join(o.dir, id[:2], id[2:]), maxObject)
	if err != nil || o.work > maxWork {
		return "", ""
	}
	z, err := zlib.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", ""
	}
	all, err := io.ReadAll(io.LimitReader(z, maxObject+32))
	if o.work += len(all); err != nil {
		return "", ""
	}
	head, body, ok := bytes.Cut(all, []byte{0})
	kind, size, _ := strings.Cut(string(head), " ")
	if n, err := strconv.Atoi(size); !ok || err != nil || n != len(body) || n > maxObject {
		return "", ""
	}
	return kind, string(body)
}

// packed looks for an object in the packs; depth is how many differences lead to it.
func (o *objects) packed(name string, depth int) (kind, text string) {
	if o.packs == nil {
		o.packs = []string{}
		list, err := os.ReadDir(filepath.Join(o.dir, "pack"))
		if err != nil || len(list) > 8*maxPacks {
			return "", ""
		}
		for _, f := range list {
			if base, ok := strings.CutSuffix(f.Name(), ".idx"); ok && len(o.packs) < maxPacks {
				o.packs = append(o.packs, filepath.Join(o.dir, "pack", base))
			}
		}
	}
	for _, pack := range o.packs {
		if o.work += oneLook; o.work > maxWork {
			break
		}
		if at := offset(pack+".idx", name); at > 0 {
			f, _, err := regular(pack + ".pack")
			if err != nil {
				return "", ""
			}
			kind, text := o.read(f, at, depth)
			_ = f.Close()
			return kind, text
		}
	}
	return "", ""
}

// offset is where a pack has an object, by its index of version 2; 0 for nowhere.
func offset(index, name string) int64 {
	f, info, err := regular(index)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	const fans = 8 + 256*4
	var head [fans]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return 0
	}
	count := func(i int) int64 { return int64(be32(string(head[8+4*i : 12+4*i]))) }
	lo, hi, all := int64(0), count(int(name[0])), count(255)
	if name[0] > 0 {
		lo = count(int(name[0]) - 1)
	}
	if lo > hi || hi > all || all > info.Size()/28 {
		return 0
	}
	var there [20]byte
	for lo < hi {
		mid := (lo + hi) / 2
		if _, err := f.ReadAt(there[:], fans+20*mid); err != nil {
			return 0
		}
		switch c := strings.Compare(string(there[:]), name); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			var number [4]byte
			if _, err := f.ReadAt(number[:], fans+24*all+4*mid); err != nil || number[0]&0x80 != 0 {
				return 0 // a pack of more than 2 GiB
			}
			return int64(be32(string(number[:])))
		}
	}
	return 0
}

// read puts an object of a pack together.
func (o *objects) read(f *os.File, at int64, depth int) (kind, text string) {
	if depth > maxChain {
		return "", ""
	}
	head := make([]byte, 40)
	n, _ := f.ReadAt(head, at)
	h := string(head[:n])
	if n < 2 {
		return "", ""
	}
	i, size := 1, int(h[0]&15)
	for shift := 4; h[i-1]&0x80 != 0; shift += 7 {
		if i >= n || shift > 25 {
			return "", ""
		}
		size |= int(h[i]&0x7f) << shift
		i++
	}
	switch h[0] >> 4 & 7 {
	case 1:
		return "commit", o.inflate(f, at+int64(i), size)
	case 2:
		return "tree", o.inflate(f, at+int64(i), size)
	case 6:
		back, length := varint(h[i:])
		if length == 0 || back <= 0 || int64(back) >= at {
			return "", ""
		}
		i += length
		kind, text = o.read(f, at-int64(back), depth+1)
	case 7:
		if i+20 > n {
			return "", ""
		}
		if kind, text = o.loose(h[i : i+20]); kind == "" {
			kind, text = o.packed(h[i:i+20], depth+1)
		}
		i += 20
	}
	if kind == "" {
		return "", ""
	}
	text, ok := patch(text, o.inflate(f, at+int64(i), size))
	if !ok {
		return "", ""
	}
	return kind, text
}

// inflate unpacks size bytes; empty where there are none or others.
func (o *objects) inflate(f *os.File, at int64, size int) string {
	if size > maxObject || o.work+size > maxWork {
		return ""
	}
	o.work += size
	z, err := zlib.NewReader(io.NewSectionReader(f, at, maxObject))
	if err != nil {
		return ""
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(z, text); err != nil {
		return ""
	}
	return string(text)
}

// patch makes an object from another by a difference, see gitformat-pack(5).
func patch(base, delta string) (text string, ok bool) {
	from, delta, ok1 := length(delta)
	to, delta, ok2 := length(delta)
	if !ok1 || !ok2 || from != len(base) || to > maxObject {
		return "", false
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) || len(out)+int(op) > to {
				return "", false
			}
			out, delta = append(out, delta[:op]...), delta[op:]
			continue
		}
		var number [7]int
		for bit := range number {
			if op&(1<<bit) != 0 {
				if delta == "" {
					return "", false
				}
				number[bit], delta = int(delta[0]), delta[1:]
			}
		}
		at := number[0] | number[1]<<8 | number[2]<<16 | number[3]<<24
		size := number[4] | number[5]<<8 | number[6]<<16
		if size == 0 {
			size = 0x10000
		}
		if at < 0 || at > len(base) || size > len(base)-at || len(out)+size > to {
			return "", false
		}
		out = append(out, base[at:at+size]...)
	}
	return string(out), len(out) == to
}

func length(s string) (value int, rest string, ok bool) {
	for i := 0; i < len(s) && i < 4; i++ {
		value |= int(s[i]&0x7f) << (7 * i)
		if s[i]&0x80 == 0 {
			return value, s[i+1:], true
		}
	}
	return 0, "", false
}

// inTree finds a name in a tree. ok is false for a damaged tree.
func inTree(tree, name string) (mode uint32, hash string, ok bool) {
	for tree != "" {
		head, rest, found := strings.Cut(tree, "\x00")
		number, is, _ := strings.Cut(head, " ")
		m, err := strconv.ParseUint(number, 8, 32)
		if !found || err != nil || len(rest) < 20 {
			return 0, "", false
		}
		if is == name {
			return uint32(m), rest[:20], true
		}
		tree = rest[20:]
	}
	return 0, "", true
}

// modeTree is a folder's in a tree.
const modeTree = 0o040000

// tree is the binary name of the tree that entries make, which are those of a folder with a name so long.
func (x *gitIndex) tree(lo, hi, long int) string {
	var b []byte
	for lo < hi {
		e := &x.entries[lo]
		name, _, folder := strings.Cut(e.name[long:], "/")
		if !folder {
			b = strconv.AppendUint(b, uint64(x.number(e, atMode)), 8)
			b = append(append(append(b, ' '), name...), 0)
			b = append(b, x.hash(e)...)
			lo++
			continue
		}
		_, next := x.below(lo, hi, e.name[:long+len(name)+1])
		b = append(append(append(b, "40000 "...), name...), 0)
		b = append(b, x.tree(lo, next, long+len(name)+1)...)
		lo = next
	}
	return hashOf("tree", string(b))
}
