// Package team keeps the journal of a team in a JetStream stream that all desks of the team share, and fills this desk's own
// SQLite from it. A desk is one Deskbell of one member; a member may have several.
//
// A message is one append: it has all its events or is not there. Who published it is a part of its subject, and a desk may
// publish under its own name only (Role.Permissions), so the name needs no signature.
package team

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
)

// Names of what a team keeps in JetStream.
const (
	Stream    = "OPERATIONS" // the journal
	Members   = "members"    // key-value: what the team knows of each member
	Keys      = "keys"       // key-value: the public keys with which each desk signs receipts
	Presence  = "presence"   // key-value, in memory: which desks are connected
	Rules     = "rules"      // key-value: who is asked first
	Changes   = "changes"    // key-value: who was invited, joined and was removed; the hub writes it
	Snapshots = "snapshots"  // key-value: operations that ended long ago, one value each, see Fold
	Deletions = "deletions"  // key-value: operations that no desk is to have any more
	Files     = "files"      // object store: what a desk asked another for, encrypted
)

// Config is the stream, kept by so many servers of the team: 1 or 3. Messages are never thrown away by themselves. It is not compressed, and no bucket
// is: a server 2.15 that compacts the block it writes to, as after messages were folded, appends to it uncompressed, and cannot read it once it was killed.
func Config(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: Stream, Subjects: []string{"op.*.*.*"}, Storage: jetstream.FileStorage, Replicas: replicas, Retention: jetstream.LimitsPolicy,
		Discard: jetstream.DiscardNew, Duplicates: 2 * time.Minute, AllowDirect: true, DenyDelete: true,
	}
}

// A Class is what kind of events a message may have. It is a part of the subject, so that the server knows it too.
type Class string

// The classes.
const (
	ByAgent    Class = "agent"    // requests, and what else agents and Deskbell itself do
	ByOperator Class = "operator" // everything that a person decides
)

// Subject is where a desk publishes events of an operation.
func Subject(id human.OperationID, desk string, c Class) string {
	return "op." + string(id) + "." + desk + "." + string(c)
}

// AllOf matches every message of an operation.
func AllOf(id human.OperationID) string { return Subject(id, "*", "*") }

// parse splits a subject.
func parse(subject string) (id human.OperationID, desk string, c Class, err error) {
	parts := strings.Split(subject, ".")
	if len(parts) != 4 || parts[0] != "op" {
		return "", "", "", fmt.Errorf("%q is no subject of an operation", subject)
	}
	return human.OperationID(parts[1]), parts[2], Class(parts[3]), nil
}

// Desk names the nth desk of a member, from 1: a token of a subject from which MemberOf gets the name back. Letters, digits and
// hyphens stay; every other byte is written as _ and two hex digits.
func Desk(member string, n int) string {
	var b strings.Builder
	for _, c := range []byte(member) {
		if c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String() + "=" + strconv.Itoa(n)
}

// KeyOf is a member's key in Members: their name as it stands in the names of their desks.
func KeyOf(member string) string {
	token, _, _ := strings.Cut(Desk(member, 1), "=")
	return token
}

// MemberOf is the member whose desk has this name.
func MemberOf(desk string) (string, error) {
	token, n, found := strings.Cut(desk, "=")
	if _, err := strconv.ParseUint(n, 10, 16); !found || err != nil || token == "" {
		return "", fmt.Errorf("%q names no desk", desk)
	}
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		if token[i] != '_' {
			b.WriteByte(token[i])
			continue
		}
		if i+3 > len(token) {
			return "", fmt.Errorf("%q names no desk", desk)
		}
		c, err := strconv.ParseUint(token[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q names no desk", desk)
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), nil
}

// A Role is what a member's desks may do.
type Role string

// The roles.
const (
	AgentRole    Role = "agent"    // only agents work there: requests, no answers
	OperatorRole Role = "operator" // answers, too
	LeadRole     Role = "lead"     // also says who is in the team and who is asked first
	AuditorRole  Role = "auditor"  // reads everything, changes nothing
)

// Roles are all of them.
var Roles = []Role{AgentRole, OperatorRole, LeadRole, AuditorRole}

// publishes says why a desk of this role publishes no messages of a class.
func (r Role) publishes(c Class) error {
	switch {
	case r == AuditorRole:
		return human.Errorf(human.Denied, "this desk is an auditor's: it reads what its team does, and changes nothing")
	case r == AgentRole && c == ByOperator:
		return human.Errorf(human.Denied, "only agents work at this desk; answer at your own")
	}
	return nil
}

// self stands in a permission for the desk's own name: the server puts it there from the desk's signed credentials.
const self = "{{name()}}"

// Inbox is the prefix of the subjects on which a desk gets its replies; no other desk may listen there.
func Inbox(desk string) string { return "_INBOX." + desk }

// Permissions are the subjects a role may publish to and subscribe to; everything else is denied by the server.
func (r Role) Permissions() (publish, subscribe []string) {
	const api, consumer = "$JS.API.", Stream + "." + self
	subscribe = []string{Inbox(self) + ".>", answerSubject(self, "*", "*")}
	publish = []string{
		api + "INFO", api + "STREAM.INFO." + Stream,
		api + "CONSUMER.CREATE." + consumer, api + "CONSUMER.CREATE." + consumer + ".>", api + "CONSUMER.INFO." + consumer,
		api + "CONSUMER.MSG.NEXT." + consumer, api + "CONSUMER.DELETE." + consumer, "$JS.ACK." + consumer + ".>", "$JS.FC.>",
		api + "DIRECT.GET." + Stream, api + "DIRECT.GET." + Stream + ".>",
	}
	// Everybody reads who is in the team, who is there, the snapshots and the files.
	for _, s := range []string{"KV_" + Members, "KV_" + Keys, "KV_" + Presence, "KV_" + Rules, "KV_" + Changes, "KV_" + Snapshots, "KV_" + Deletions, "OBJ_" + Files} {
		publish = append(publish, api+"STREAM.INFO."+s, api+"DIRECT.GET."+s+".>", api+"CONSUMER.CREATE."+s+".>", api+"CONSUMER.DELETE."+s+".>", api+"CONSUMER.MSG.NEXT."+s+".>", api+"CONSUMER.INFO."+s+".>")
	}
	publish = append(publish, api+"STREAM.MSG.GET.KV_"+Snapshots)
	mine := func(c Class) string { return Subject("*", self, c) }
	if r != AuditorRole {
		publish = append(publish, mine(ByAgent), "$KV."+Presence+"."+self, "$KV."+Keys+"."+self, "$O."+Files+".C.*", "$O."+Files+".M.*", answerSubject("*", self, "*"))
		subscribe = append(subscribe, askSubject(self, "*", "*"))
	}
	if r == OperatorRole || r == LeadRole {
		publish = append(publish, mine(ByOperator), "$KV."+Members+"."+self, Office(self, OfficeDesk))
	}
	if r == AgentRole {
		publish = append(publish, askSubject("*", self, AnswerReader))
	} else {
		publish = append(publish, askSubject("*", self, AnyReader))
	}
	if r == LeadRole {
		publish = append(publish, "$KV."+Members+".*", "$KV."+Rules+".*", "$KV."+Deletions+"."+self+".*", Office(self, OfficeInvite), Office(self, OfficeRemove), Office(self, OfficeMembers))
	}
	return publish, subscribe
}
