// Package check reads the Compose file and the chart with the packages of Docker Compose and Helm. It is a module of its own: they bring
// hundreds of packages that Deskbell does not need.
package check

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartloader "helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

func TestCompose(t *testing.T) {
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{WorkingDir: "..", ConfigFiles: []types.ConfigFile{{Filename: "../compose.yaml"}}, Environment: types.Mapping{}})
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]bool{}
	for name, hub := range project.Services {
		if name == "keys" {
			continue
		}
		value := func(flag string) string {
			i := slices.Index(hub.Command, flag)
			if i < 0 || i+1 == len(hub.Command) {
				t.Fatalf("%s has no %s", name, flag)
			}
			return hub.Command[i+1]
		}
		others := strings.Split(value("--routes"), ",")
		for other := range project.Services {
			if is := slices.Contains(others, other+":6222"); is != (other != "keys" && other != name) {
				t.Errorf("%s has the routes %v", name, others)
			}
		}
		if value("--name") != name || !slices.Contains(strings.Split(value("--host"), ","), name) {
			t.Errorf("%s has another name: %v", name, hub.Command)
		}
		// What a hub listens on is what desks reach: links and credentials name its own ports.
		for flag, at := range map[string]int{"--addr": 0, "--web": 1} {
			p := hub.Ports[at]
			if value(flag) != ":"+p.Published || strconv.Itoa(int(p.Target)) != p.Published || ports[p.Published] {
				t.Errorf("%s: %s is published as %+v", name, value(flag), p)
			}
			ports[p.Published] = true
		}
		if hub.HealthCheck == nil || !hub.ReadOnly {
			t.Errorf("%s has no health check, or can write to its image", name)
		}
	}
	if len(ports) != 6 {
		t.Errorf("the ports are %v", ports)
	}
}

// render is what a cluster gets of the chart with these values, by kind and name.
func render(t *testing.T, values map[string]any) (map[string][]byte, error) {
	t.Helper()
	chart, err := chartloader.LoadDir("../chart")
	if err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(chart, values, common.ReleaseOptions{Name: "hub", Namespace: "default", IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	objects := map[string][]byte{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			var about struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if err == nil {
				err = strict.Unmarshal(document, &about)
			}
			if err != nil {
				t.Fatal(name, err)
			}
			objects[about.Kind+" "+about.Metadata.Name] = document
		}
	}
	return objects, nil
}

// read reads an object as Kubernetes' own type, in which every field has to be.
func read[T any](t *testing.T, objects map[string][]byte, name string) (v T) {
	t.Helper()
	if err := strict.UnmarshalStrict(objects[name], &v); err != nil || objects[name] == nil {
		t.Fatalf("%s: %v; there are %v", name, err, slices.Collect(maps.Keys(objects)))
	}
	return v
}

func TestChart(t *testing.T) {
	lint := action.NewLint()
	lint.Strict = true
	result := lint.Run([]string{"../chart"}, nil)
	for _, m := range result.Messages {
		if m.Severity > 1 { // an icon is only recommended
			t.Error(m)
		}
	}
	if len(result.Errors) > 0 || result.TotalChartsLinted != 1 {
		t.Error(result.Errors)
	}
	for _, values := range []map[string]any{{"host": "a b"}, {"more": true}, {"service": map[string]any{"desks": 80}}, {"storage": map[string]any{"size": "much"}}} {
		if _, err := render(t, values); err == nil {
			t.Errorf("%v are good values", values)
		}
	}
	for _, spread := range []bool{true, false} {
		objects, err := render(t, map[string]any{"spread": spread, "storage": map[string]any{"className": "fast"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(objects) != 4 {
			t.Errorf("there are %d objects", len(objects))
		}
		hubs := read[apps.StatefulSet](t, objects, "StatefulSet hub")
		among, desks := read[core.Service](t, objects, "Service hub-hubs"), read[core.Service](t, objects, "Service hub")
		budget := read[policy.PodDisruptionBudget](t, objects, "PodDisruptionBudget hub")
		labels := hubs.Spec.Template.Labels
		affinity := hubs.Spec.Template.Spec.Affinity.PodAntiAffinity
		apart := make([]map[string]string, 0, 1)
		for _, a := range affinity.RequiredDuringSchedulingIgnoredDuringExecution {
			apart = append(apart, a.LabelSelector.MatchLabels)
		}
		for _, a := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
			apart = append(apart, a.PodAffinityTerm.LabelSelector.MatchLabels)
		}
		for _, selects := range append(apart, hubs.Spec.Selector.MatchLabels, among.Spec.Selector, desks.Spec.Selector, budget.Spec.Selector.MatchLabels) {
			if !maps.Equal(selects, labels) {
				t.Errorf("%v selects not %v", selects, labels)
			}
		}
		if len(apart) != 1 || len(affinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 != spread {
			t.Errorf("with spread %v, %+v", spread, affinity)
		}
		if *hubs.Spec.Replicas != 3 || hubs.Spec.ServiceName != among.Name || among.Spec.ClusterIP != core.ClusterIPNone || !among.Spec.PublishNotReadyAddresses || budget.Spec.MaxUnavailable.IntValue() != 1 {
			t.Errorf("%+v, %+v, %+v", hubs.Spec, among.Spec, budget.Spec)
		}
		hub := hubs.Spec.Template.Spec.Containers[0]
		ports := map[string]int32{}
		for _, p := range hub.Ports {
			ports[p.Name] = p.ContainerPort
		}
		for _, p := range append(among.Spec.Ports, desks.Spec.Ports...) {
			if ports[p.TargetPort.StrVal] != p.Port {
				t.Errorf("%+v leads to no port of %v", p, ports)
			}
		}
		for _, probe := range []*core.Probe{hub.StartupProbe, hub.LivenessProbe, hub.ReadinessProbe} {
			if ports[probe.HTTPGet.Port.StrVal] == 0 || probe.HTTPGet.Scheme != core.URISchemeHTTPS {
				t.Errorf("a probe asks %+v", probe.HTTPGet)
			}
		}
		volumes := map[string]bool{hubs.Spec.VolumeClaimTemplates[0].Name: true}
		for _, v := range hubs.Spec.Template.Spec.Volumes {
			volumes[v.Name] = true
		}
		for _, m := range hub.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s is no volume", m.Name)
			}
		}
		for _, arg := range []string{"--name=$(POD_NAME)", "--host=hub.example.org,$(POD_NAME).hub-hubs", "--routes=hub-0.hub-hubs:6222,hub-1.hub-hubs:6222,hub-2.hub-hubs:6222", "--keys=/keys"} {
			if !slices.Contains(hub.Args, arg) {
				t.Errorf("the hubs run with %v", hub.Args)
			}
		}
	}
}
