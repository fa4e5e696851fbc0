//go:build !operator

package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// openReport is a Report or a ClusterReport of openreports.io/v1alpha1.
type openReport struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   reportMetadata `json:"metadata"`
	Source     string         `json:"source"`
	Summary    reportSummary  `json:"summary"`
	Results    []reportResult `json:"results"`
}

type reportMetadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels"`
}

type reportSummary struct {
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Warn  int `json:"warn"`
	Error int `json:"error"`
	Skip  int `json:"skip"`
}

// reportResult is what a rule says of one object.
type reportResult struct {
	Source     string            `json:"source"`
	Policy     string            `json:"policy"`
	Rule       string            `json:"rule"`
	Result     string            `json:"result"`
	Scored     bool              `json:"scored"`
	Message    string            `json:"message,omitempty"`
	Resources  []reportResource  `json:"resources"`
	Timestamp  reportTimestamp   `json:"timestamp"`
	Properties map[string]string `json:"properties"`
}

type reportResource struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

type reportTimestamp struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

func reportTime(at time.Time) reportTimestamp {
	if at.IsZero() {
		return reportTimestamp{}
	}
	return reportTimestamp{Seconds: at.Unix(), Nanos: int32(at.Nanosecond())} //nolint:gosec // It is below a second.
}

// openReports has a Report for each namespace, in which the results are in the order of the findings, and a ClusterReport before them.
func openReports(all []*finding) []*openReport {
	var out []*openReport
	for _, one := range all { // By namespace, of which none comes first.
		if len(out) == 0 || out[len(out)-1].Metadata.Namespace != one.object.Namespace {
			kind := "Report"
			if one.object.Namespace == "" {
				kind = "ClusterReport"
			}
			out = append(out, &openReport{
				APIVersion: "openreports.io/v1alpha1", Kind: kind, Source: plan.FieldManager,
				Metadata: reportMetadata{
					Name: plan.FieldManager, Namespace: one.object.Namespace,
					Labels: map[string]string{"app.kubernetes.io/managed-by": plan.FieldManager},
				},
			})
		}
		out[len(out)-1].add(one)
	}
	return out
}

// add adds a result, and counts it.
func (r *openReport) add(f *finding) {
	result, count := "skip", &r.Summary.Skip
	switch f.verdict() {
	case verdictChange, verdictAudited:
		result, count = "fail", &r.Summary.Fail
		if !f.counts() { // It would only record Events.
			result, count = "warn", &r.Summary.Warn
		}
	case verdictWanted:
		result, count = "pass", &r.Summary.Pass
	case verdictReports, verdictPaused, verdictWithheld:
		result, count = "warn", &r.Summary.Warn
	case verdictRefused, verdictFailed:
		result, count = "error", &r.Summary.Error
	default:
	}
	*count++
	policy, mode := f.rule.Set, spec.Enforce
	if f.rule.Namespace != "" {
		policy = f.rule.Namespace + "/" + policy
	}
	if f.audited {
		mode = spec.Audit
	}
	r.Results = append(r.Results, reportResult{
		Source: plan.FieldManager, Policy: policy, Rule: f.rule.Name, Result: result, Scored: result == "fail" || result == "pass",
		Message: f.detail(), Timestamp: reportTime(f.at),
		Resources: []reportResource{{
			APIVersion: f.object.GVR.GroupVersion().String(), Kind: f.object.Kind, Namespace: f.object.Namespace, Name: f.object.Name,
			UID: string(f.object.UID),
		}},
		Properties: map[string]string{"decision": string(f.verdict()), "mode": string(mode)},
	})
}

// showReports prints the documents of openReports.
func showReports(out io.Writer, all []*finding) error {
	for i, one := range openReports(all) {
		text, err := compare.YAML(one)
		if err != nil {
			return internal(fmt.Errorf("showing the report of namespace %q: %w", one.Metadata.Namespace, err))
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if err := put(out, "the reports", string(text)); err != nil {
			return err
		}
	}
	return nil
}
