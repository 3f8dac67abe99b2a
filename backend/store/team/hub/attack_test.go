package hub

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/store/team"
)

// A desk has the server publish in another's name: it names another's subject as the place for an answer.
func TestNoAnswerOfTheServerIsInAnothersName(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	mallory := connect(t, join(t, h, "Mallory", team.AgentRole))
	const mine, forged = "op.op_1.Mallory=1.agent", "op.op_2.Victor=1.operator"
	stored := func() (subjects []string) {
		s, err := h.Office().js.Stream(ctx, team.Stream)
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Info(ctx, jetstream.WithSubjectFilter("op.>"))
		if err != nil {
			t.Fatal(err)
		}
		for s := range info.State.Subjects {
			subjects = append(subjects, s)
		}
		return subjects
	}
	js, err := jetstream.New(mallory.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, mine, []byte("bad events")); err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(ctx, team.Presence)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(ctx, "Mallory=1", []byte("bad events")); err != nil {
		t.Fatal(err)
	}
	_, err = js.CreateOrUpdateConsumer(ctx, team.Stream, jetstream.ConsumerConfig{Durable: "Mallory=1"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(subject, body string) {
		t.Helper()
		if err := mallory.PublishMsg(&nats.Msg{Subject: subject, Reply: forged, Data: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		if err := mallory.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	ask("$JS.API.DIRECT.GET.KV_presence.$KV.presence.Mallory=1", "")
	time.Sleep(time.Second)
	t.Log("direct", stored())
	ask("$JS.API.CONSUMER.MSG.NEXT.OPERATIONS.Mallory=1", "")
	time.Sleep(time.Second)
	t.Log("next", stored())
	_, err = js.CreatePushConsumer(ctx, "KV_presence", jetstream.ConsumerConfig{DeliverSubject: "op.op_3.Victor=1.operator"})
	time.Sleep(time.Second)
	t.Log("push", stored(), err)
}
