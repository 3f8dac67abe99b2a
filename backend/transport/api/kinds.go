package api

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// An anyKind stands for human.Kind in the description, an agentKind for those that can be asked for with an agent's key.
type (
	anyKind   string
	agentKind human.Kind
)

func (anyKind) Schema(huma.Registry) *huma.Schema   { return oneOf(kind.Names()) }
func (agentKind) Schema(huma.Registry) *huma.Schema { return oneOf(kind.ForKeys()) }

func oneOf(kinds []human.Kind) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, k := range kinds {
		s.Enum = append(s.Enum, string(k))
	}
	s.PrecomputeMessages()
	return s
}

// describeKinds adds a schema for the details of each kind that agents ask for. The schemas reject nothing: details are
// free-form, and what they say of a field is where it is shown.
func describeKinds(all huma.Registry) {
	all.RegisterTypeAlias(reflect.TypeFor[human.Kind](), reflect.TypeFor[anyKind]())
	for _, k := range kind.All {
		if !k.Agents {
			continue
		}
		s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{},
			Description: "The details of an operation of kind " + string(k.Name) + ": " + k.Doc + "."}
		for _, f := range k.Fields {
			p := &huma.Schema{Description: f.Doc + "."}
			switch f.Type {
			case kind.Text, kind.Code, kind.Path, kind.Level:
				p.Type = huma.TypeString
			case kind.Flag:
				p.Type = huma.TypeBoolean
			case kind.List:
				p.Type, p.Items = huma.TypeArray, &huma.Schema{}
			case kind.Any:
			}
			if len(f.Aliases) > 0 {
				p.Description += " Also read as " + strings.Join(f.Aliases, ", ") + "."
			}
			s.Properties[f.Name] = p
		}
		all.Map()[strings.ToUpper(string(k.Name[:1]))+string(k.Name[1:])+"Details"] = s
	}
}
