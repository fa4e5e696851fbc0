package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/history"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// target is an object as the last write has left it. It is closed where nothing more can be written to it: that is not known,
// it is gone, or it is not as predicted.
type target struct {
	plan.Object
	closed bool
}

// sending is an operation as it is sent, and as it was admitted.
type sending struct {
	plan.Operation
	admitted plan.Operation
	// origin has a Prefix where we chose the name. resent says that the name was sent before, and that it is not known what became of that.
	// answered is called when that is known of this request.
	origin   naming.Origin
	resent   bool
	answered func()
	// answer is there where it is not sent at all.
	answer *write.Result
	// existing says that it is not made as an object that the rules do not see has the name. The Event is nil where that one is
	// being deleted, so that it only takes time.
	existing      bool
	existingEvent *plan.Event
	// known is what is known to have no effect, so that it is not sent.
	known plan.Marks
	at    time.Time // when it was sent
	// before is the target in the caches as of then, as of an expectation.
	before []map[string]any
}

// asCached is an object as each of the caches has it that does, for an engine that settles.
func asCached(c *core, now *active, object plan.Object) (out []map[string]any) {
	if c.runs() != untilSettled {
		return nil
	}
	for _, cache := range now.holding(object) {
		if found := c.caches.View(cache, object.Namespace, object.Name).Object; found != nil {
			out = append(out, found.Fields())
		}
	}
	return out
}

// overtaken reports whether the API server refused what was sent because somebody has written the object since.
func (s sending) overtaken(result write.Result) bool {
	return result.Class == write.Stale && !s.at.IsZero() && result.Echo != nil && !result.Echo.Gone &&
		result.Echo.Object.UID == s.Target.UID && result.Echo.Object.ResourceVersion != s.Target.ResourceVersion
}

// mayBeTaken reports whether the API server has refused to make an object whose name another one may have, which the rules do not see.
func (s sending) mayBeTaken(result write.Result) bool {
	return s.Unseen != nil && s.Target.UID == "" && !s.at.IsZero() && slices.Contains([]write.Class{write.Stale, write.Taken, write.Terminal}, result.Class)
}

// isOurs reports whether an object is one that the rule of an operation made for the watched one.
func isOurs(o plan.Operation, watched types.UID, object map[string]any) bool {
	rule := o.Rules[0]
	return plan.Label(object, plan.LabelSet) == rule.SetID() && plan.Label(object, plan.LabelRule) == rule.Name &&
		plan.Label(object, plan.LabelOwnerUID) == string(watched)
}

// log logs an answer, by the operation as it may be told. It names rules and fields but not their values, which may be secret. A refusal is loud once, until it is another one
// or a write of the rule to the same object succeeds: what is tried again and again need not say so each time.
func (s sending) log(ctx context.Context, log *slog.Logger, known *logged, o plan.Operation, result write.Result) {
	attrs := append(attrsOf(o), targetOf(o)...)
	switch {
	case result.Class == write.Stale:
		log.Debug("write was out of date", append(attrs, "err", result.Err)...)
	case result.Class.Failed():
		level, text := slog.LevelDebug, history.Brief(result.Err.Error())
		for _, rule := range o.Rules {
			if known.add(trouble{rule, true, guard.KeyOf(s.admitted.Target).Object()}, text) {
				level = slog.LevelWarn
			}
		}
		log.Log(ctx, level, "write failed", append(attrs, "class", string(result.Class), "err", result.Err)...)
	case result.Class == write.Simulated:
		logWould(log, o, attrs)
	case result.Class == write.Written && o.Type == plan.Delete:
		log.Info("deleted", attrs...)
	case result.Class == write.Written:
		log.Info("wrote", attrs...)
	}
}

// logWould logs an operation that is not carried out.
func logWould(log *slog.Logger, o plan.Operation, attrs []any) {
	if o.Type == plan.Delete {
		log.Info("would delete", attrs...)
	} else {
		log.Info("would write", attrs...)
	}
}

// targetOf are the log attributes of the object that an operation is about, which is not always the watched one.
func targetOf(o plan.Operation) []any {
	return []any{"type", string(o.Type), "target", o.Target.String(), "subresource", o.Subresource}
}

// attrsOf are the log attributes of an operation: rules and fields, each field with its rule where there are several. A deletion
// changes no fields.
func attrsOf(o plan.Operation) []any {
	switch {
	case len(o.Changes) == 0:
		return []any{"rules", names(o.Rules)}
	case len(o.Rules) > 1:
		return []any{"rules", names(o.Rules), "changes", names(o.Changes)}
	}
	paths := make([]plan.Path, len(o.Changes))
	for i, change := range o.Changes {
		paths[i] = change.Path
	}
	return []any{"rules", names(o.Rules), "changes", names(paths)}
}

// texts are logged as slog logs a []string, in text without reflection.
type texts []string

// MarshalText implements [encoding.TextMarshaler].
func (t texts) MarshalText() ([]byte, error) { return []byte("[" + strings.Join(t, " ") + "]"), nil }

// MarshalJSON implements [json.Marshaler].
func (t texts) MarshalJSON() ([]byte, error) { return json.Marshal([]string(t)) }

func names[T interface{ String() string }](list []T) texts {
	out := make(texts, len(list))
	for i, element := range list {
		out[i] = element.String()
	}
	return out
}
