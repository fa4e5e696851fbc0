//go:build !operator

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// suspending is a run of the commands suspend and resume.
type suspending struct {
	Process
	cluster *config.Cluster
	suspend bool // or resume
	objects dynamic.Interface
}

func newSuspend(p Process) *cobra.Command {
	return (&suspending{Process: p, suspend: true}).command(&cobra.Command{
		Use:   "suspend (SET | SET/RULE)...",
		Short: "Suspend rule sets or rules in a cluster",
		Long: `Set "suspend: true" in the spec of a RuleSet or ClusterRuleSet of the cluster, or of
one of its rules. A suspended rule decides nothing and stays listed; changes with
"restore: true" are put back, as when the rule does not match any more. This also
stops the version in effect of a set whose newest version is refused. A set of a file
is suspended in its file.

SET is a name. Of sets of the same name it is NAMESPACE/SET, or ClusterRuleSet/SET.

Exit code: 0; 2 for wrong usage, if there is no such set or rule, or if you may not
change it; 3 if the cluster cannot be asked.`,
		Example: `  dyncontroller suspend night --namespace shop
  dyncontroller suspend tidb-guardrails/restart`,
	})
}

func newResume(p Process) *cobra.Command {
	return (&suspending{Process: p}).command(&cobra.Command{
		Use:   "resume (SET | SET/RULE)...",
		Short: "Resume rule sets or rules that are suspended or paused",
		Long: `Take "suspend" out of the spec of a RuleSet or ClusterRuleSet of the cluster, or of
one of its rules. A rule that has paused, as it has passed its limits or since its
rollout has stopped, is asked to go on, if it is named: SET/RULE. That is what the
annotation dyncontroller.dev/resume is for.

SET is a name. Of sets of the same name it is NAMESPACE/SET, or ClusterRuleSet/SET.

Exit code: 0; 1 if a rule may not act yet, as its set is refused or suspended; 2 for
wrong usage, if there is no such set or rule, or if you may not change it; 3 if the
cluster cannot be asked.`,
		Example: `  dyncontroller resume night --namespace shop
  dyncontroller resume tidb-guardrails/restart`,
	})
}

// command adds what suspend and resume share.
func (s *suspending) command(command *cobra.Command) *cobra.Command {
	s.cluster = addClusterFlags(command.Flags(), clusterAsRun, contextOfKubeconfig, "look only for RuleSets of the namespace `NAME`")
	command.Args = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s needs a SET, or SET/RULE", command.Name())
		}
		return nil
	}
	command.RunE = func(command *cobra.Command, args []string) error { return s.run(command.Context(), args) }
	command.ValidArgsFunction = s.completeSets(true)
	return command
}

func (s *suspending) run(ctx context.Context, names []string) error {
	target, err := s.reached(ctx, *s.cluster)
	if err != nil {
		return err
	}
	if s.objects, err = client.Dynamic(target.config); err != nil {
		return internal(fmt.Errorf("making a client for rule sets: %w", err))
	}
	objects, err := target.setObjects(ctx, s.cluster.Namespace)
	if err != nil {
		return unlisted(err, s.cluster.Namespace, "a set or a rule of a file is suspended there, with suspend: true")
	}
	var sets, ids, chosen []plan.Rule
	for _, object := range objects {
		of := idsOf(object)
		sets, ids = append(sets, of[0]), append(ids, of...)
	}
	for _, name := range names { // All are known before the first is changed.
		what, all := "set", sets
		if strings.Contains(name, "/") {
			what, all = "set or rule", ids
		}
		id, err := pick(what, name, all)
		if err != nil {
			return err
		}
		chosen = append(chosen, id)
	}
	inVain := false
	for _, id := range chosen {
		did, but := "", ""
		err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
			did, but, err = s.change(ctx, id)
			return err
		})
		switch {
		case apierrors.IsNotFound(err):
			return failure{exitUsage, fmt.Errorf("there is no %s any more", id.SetName())}
		case err != nil:
			return unread(fmt.Errorf("changing %s: %w", id.SetName(), err))
		case but != "":
			did, inVain = did+"; "+but, true
		}
		if err := put(s.Stdout, "what was done", printable.Sprintf("%s %s\n", fullName(id), did)); err != nil {
			return err
		}
	}
	if inVain {
		return errFinding
	}
	return nil
}

// idsOf are a set of the cluster, as a rule without a name, and its rules.
func idsOf(object source.Object) []plan.Rule {
	id := plan.Rule{Kind: object.Kind, Namespace: object.Namespace, Set: object.Name}
	out := []plan.Rule{id}
	parsed, _ := spec.Parse([]document.File{object.Document}, object.Namespace)
	for _, set := range parsed {
		for i := range set.Rules {
			id.Name = set.Rules[i].Name
			out = append(out, id)
		}
	}
	return out
}

// change suspends or resumes a set or a rule, and says what was done, and why that has no effect.
func (s *suspending) change(ctx context.Context, id plan.Rule) (did, but string, err error) {
	resource := s.objects.Resource(v1alpha1.ResourceOf(id.Kind)).Namespace(id.Namespace)
	object, err := resource.Get(ctx, id.Set, metav1.GetOptions{})
	if err != nil {
		return "", "", err //nolint:wrapcheck // The caller does.
	}
	patch, did, but := s.patch(id, object)
	if len(patch) == 0 {
		return did, but, nil
	}
	patch = append(patch, operation{"replace", "/metadata/resourceVersion", object.GetResourceVersion()}) // Or it is a conflict.
	body, err := json.Marshal(patch)
	if err == nil {
		_, err = resource.Patch(ctx, id.Set, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: plan.FieldManager + "-cli"})
	}
	return did, but, err //nolint:wrapcheck // The caller does.
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch is what is to change of a set object, empty for nothing, what to say of it, and why it has no effect, empty where it has.
func (s *suspending) patch(id plan.Rule, object *unstructured.Unstructured) (out []operation, did, but string) {
	of, _ := object.Object["spec"].(map[string]any)
	whole, _ := of["suspend"].(bool)
	suspended, at := whole, "/spec/suspend"
	rules, _ := of["rules"].([]any)
	for i := range rules {
		if rule, _ := rules[i].(map[string]any); id.Name != "" && rule["name"] == id.Name {
			suspended, _ = rule["suspend"].(bool)
			at = fmt.Sprintf("/spec/rules/%d/suspend", i)
		}
	}
	status := v1alpha1.StatusOf(object)
	var paused []string
	for _, pause := range status.Paused {
		paused = append(paused, pause.Rule)
	}
	asks := slices.Contains(paused, id.Name)
	switch {
	case s.suspend && suspended:
		return nil, "is suspended already", ""
	case s.suspend:
		return []operation{{"add", at, true}}, "suspended", ""
	case !suspended && !asks && id.Name == "" && len(paused) > 0:
		return nil, "is not suspended", fmt.Sprintf("rules that are paused are resumed by their names: %s/%s", id.Set, strings.Join(paused, ", "+id.Set+"/"))
	case !suspended && !asks:
		did = "is neither suspended nor paused"
	default:
		did = "resumed"
	}
	if suspended {
		out = append(out, operation{Op: "remove", Path: at})
	}
	if asks {
		asked := spec.Resumed(object.GetAnnotations()[spec.ResumeAnnotation])
		if len(object.GetAnnotations()) == 0 {
			out = append(out, operation{"add", "/metadata/annotations", map[string]any{}})
		}
		path := "/metadata/annotations/" + strings.ReplaceAll(spec.ResumeAnnotation, "/", "~1")
		out = append(out, operation{"add", path, strings.Join(append(asked, id.Name), ",")})
	}
	if setstatus.RefusedIn(status) != "" {
		but = "but the set is refused: what its version in effect suspends stays so until you correct it"
	}
	if id.Name != "" && whole {
		but = "but its set is suspended: resume that too"
	}
	return out, did, but
}
