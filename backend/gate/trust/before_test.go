package trust

import (
	"testing"
	"time"

	"deskbell/backend/human"
)

func TestPointsTellWhatTimeTookFromWhatAnAnswerDid(t *testing.T) {
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	l := New(Options{Initial: 0.5, Increment: 0.01, Decrement: 0.05, HalfLife: 24 * time.Hour})
	for _, at := range []time.Time{start, start.Add(24 * time.Hour)} {
		l.Add(Answer{Operator: "ada", Project: "/src/app", At: at, Verbs: []human.EffectVerb{human.GitWrite}})
	}
	points := l.Series("ada", "/src/app", start.Add(-time.Hour), start.Add(25*time.Hour))[0].Points
	var got []float64
	for _, p := range points {
		got = append(got, p.Before, p.Value)
	}
	// Denied twice, a half life apart: half of the first denial is forgiven when the second comes.
	want := []float64{0.5, 0.5, 0.5, 0.45, 0.475, 0.425, 0.42714, 0.42714}
	if len(got) != len(want) {
		t.Fatalf("points %+v", points)
	}
	for i := range want {
		if d := got[i] - want[i]; d > 1e-4 || d < -1e-4 {
			t.Errorf("before and value %v, want %v", got, want)
			break
		}
	}
}
