package simulate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// Evaluation is one look of rules at one object, in a cluster of its own.
type Evaluation struct {
	Rules       *rules.Set
	Definitions []*crd.Definition
	Object      map[string]any
	// Related are the other objects in the cluster. Beside are those of the same file: what no rule watches or reads is left out.
	Related, Beside []map[string]any
	Now             time.Time
}

// Run asks the rules once, and carries out what they want. It is an error if no rule
// watches the object.
func (e Evaluation) Run(ctx context.Context) (Story, error) {
	s, object, err := e.start(ctx, nil)
	if err != nil {
		return Story{}, err
	}
	if err := s.Look(ctx, object.GVR, object.Namespace, object.Name); err != nil {
		return Story{}, err
	}
	return Story{Phase: s.Phases()[0]}, nil
}

// start puts all objects into a cluster, and says which of them is evaluated. It is an error if no rule watches that.
func (e Evaluation) start(ctx context.Context, looked func(rules.Snapshot, []plan.Decision)) (*scenario.Scenario, plan.Object, error) {
	server, all, err := e.cluster()
	if err != nil {
		return nil, plan.Object{}, err
	}
	resource, err := watched(e.Rules, all[0])
	if unwatched, is := errors.AsType[*UnwatchedError](err); is {
		_, unread := resourceOf(kindOf(all[0]), e.Rules.Related())
		unwatched.Read = unread == nil
	}
	if err != nil {
		return nil, plan.Object{}, err
	}
	s, err := scenario.Start(ctx, scenario.Setup{
		Rules: e.Rules, Server: server, Now: e.Now, Order: queue.FIFO, Objects: all, Mask: redact.Plain, Looked: looked,
	})
	return s, plan.ObjectOf(resource, all[0]), err
}

// cluster returns a server that knows all objects, and these as they are in a cluster:
// the one that is evaluated is the first.
func (e Evaluation) cluster() (*apiserver.Server, []map[string]any, error) {
	given := append([]map[string]any{e.Object}, e.Related...)
	for _, object := range e.Beside {
		if _, err := resourceOf(kindOf(object), slices.Concat(e.Rules.Selections(), e.Rules.Related())); err == nil {
			given = append(given, object)
		}
	}
	server, err := serving(withGuesses(e.Definitions, newGuesser(e.Definitions, given).among(e.Rules)))
	if err != nil {
		return nil, nil, err
	}
	all := make([]map[string]any, len(given))
	for i, content := range given {
		o := object{content: maps.Clone(content)}
		if resource, known := server.OfKind(kindOf(content)); known {
			if err := o.settle(resource); err != nil {
				return nil, nil, err
			}
		} else if _, err := resourceOf(kindOf(content), slices.Concat(e.Rules.Selections(), e.Rules.Related())); err != nil {
			return nil, nil, err
		}
		all[i] = o.content
	}
	return server, all, nil
}

// EvaluateExpression returns the value of one expression on an object, which gets what
// every stored object has. Its errors are those of [rules.EvaluateExpression].
func EvaluateExpression(text string, content map[string]any, now time.Time) (any, error) {
	object := cluster.Stored(content, uuid.NewSHA1(uuid.NameSpaceDNS, []byte(identityOf(content))).String(), now)
	if metadata, _ := object["metadata"].(map[string]any); plan.Text(object, "metadata", "resourceVersion") == "" {
		metadata["resourceVersion"] = "1"
	}
	return rules.EvaluateExpression(text, object, now)
}

// Reader reads from the cluster of the evaluation, where nothing has been decided yet. It
// says what the object is there, whether a rule watches it or not.
func (e Evaluation) Reader() (*live.Reader, plan.Object, error) {
	server, all, err := e.cluster()
	if err != nil {
		return nil, plan.Object{}, err
	}
	c, err := cluster.New(server, e.Now)
	if err != nil {
		return nil, plan.Object{}, fmt.Errorf("making a cluster: %w", err)
	}
	for _, object := range all {
		if err := c.Put(object); err != nil {
			return nil, plan.Object{}, err
		}
	}
	out := plan.Object{Namespace: plan.Text(all[0], "metadata", "namespace"), Name: plan.Text(all[0], "metadata", "name")}
	if resource, known := server.OfKind(kindOf(all[0])); known {
		out.GVR = resource.GVR
		return c.Live(), out, nil
	}
	out.GVR, err = resourceOf(kindOf(all[0]), e.Rules.Selections())
	return c.Live(), out, err
}
