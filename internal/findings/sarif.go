package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// The part of SARIF 2.1.0 that a report needs. The standard, which is at
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, says of each
// what it means.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool                `json:"tool"`
		Bases      map[string]sarifArtifact `json:"originalUriBaseIds"`
		ColumnKind string                   `json:"columnKind"`
		Results    []sarifResult            `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifText    `json:"shortDescription"`
		Help    sarifText    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifArtifact struct {
		URI         string     `json:"uri,omitempty"`
		Base        string     `json:"uriBaseId,omitempty"`
		Description *sarifText `json:"description,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndColumn   int `json:"endColumn"` // That behind the last one.
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// sarifRoot is what names of files are relative to, as most tools call it.
	sarifRoot = "%SRCROOT%"
	// sarifFingerprint says how fingerprints are made, so that another way gets
	// another name.
	sarifFingerprint = "rulesAndLine/v1"
)

// sarif has every code as a rule, so that a rule keeps its place whatever was
// found.
func (r *Report) sarif() sarifLog {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "dyncontroller", Version: r.Version}},
		Bases:      map[string]sarifArtifact{sarifRoot: {Description: &sarifText{"The directory that the command was run in."}}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	codes := document.Codes()
	for _, code := range codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: string(code.Code), Short: sarifText{code.Text}, Help: sarifText{code.Advice}, Default: sarifDefault{level(code.Severity)},
		})
	}
	seen := map[string]int{}
	for _, found := range r.sorted() {
		code := document.Describe(found.Code)
		result := sarifResult{
			RuleID:       string(code.Code),
			RuleIndex:    slices.Index(codes, code),
			Level:        level(found.Severity),
			Message:      sarifText{r.sentence(found)},
			Fingerprints: map[string]string{sarifFingerprint: r.fingerprint(found, seen)},
		}
		if at, ok := r.location(found); ok {
			result.Locations = []sarifLocation{at}
		}
		run.Results = append(run.Results, result)
	}
	return sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}
}

func level(severity document.Severity) string {
	return [...]string{"error", "warning", "note"}[severity]
}

// location returns where a finding is, if it is in a file or in standard input.
func (r *Report) location(found *document.Error) (at sarifLocation, ok bool) {
	switch file := r.file(found); {
	case found.File == stdin:
		at.Physical.Artifact.Description = &sarifText{"standard input"}
	case file == "":
		return at, false
	case filepath.IsAbs(file):
		at.Physical.Artifact.URI = (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	default:
		at.Physical.Artifact = sarifArtifact{URI: (&url.URL{Path: filepath.ToSlash(file)}).String(), Base: sarifRoot}
	}
	if found.Line > 0 {
		at.Physical.Region = &sarifRegion{found.Line, found.Column, found.Column + max(found.Length, 1)}
	}
	if found.Path != "" {
		at.Logical = []sarifLogical{{found.Path}}
	}
	return at, true
}

// fingerprint stays when lines above the finding come and go: it is made of the
// line itself and of what is said of it. The same again in a file is numbered.
func (r *Report) fingerprint(found *document.Error, seen map[string]int) string {
	text := strings.Join([]string{
		filepath.ToSlash(r.file(found)), string(found.Code), found.Message, strings.TrimSpace(found.Text()),
	}, "\x00")
	seen[text]++
	hash := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", text, seen[text]))
	return hex.EncodeToString(hash[:16])
}
