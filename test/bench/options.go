package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/test/bench/controllers"
)

// options say what to measure.
type options struct {
	jobs       []string
	contenders []string // Names of controllers, and dyncontroller or NAME=PATH of a binary of it.
	phases     []string
	objects    int
	size       int // of one object, in bytes of JSON.
	rounds     int
	updates    int
	creations  int
	process    processOptions
	quiet      time.Duration
	slim       bool   // The schema of TidbClusters says nothing.
	planeLimit string // GOMEMLIMIT of the API server
	json       string
}

// processOptions are the same for every contender.
type processOptions struct {
	workers  int
	gogc     string
	memLimit string
}

// allPhases are in the order in which they run.
func allPhases() []string { return []string{"backlog", "irrelevant", "latency", "restart"} }

func parseOptions(arguments []string, usage io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	list := func(to *[]string, name, value, help string) {
		*to = strings.Split(value, ",")
		flags.Func(name, help+" (default "+value+")", func(text string) error {
			*to = strings.Split(text, ",")
			return nil
		})
	}
	list(&o.jobs, "jobs", strings.Join(allJobs(), ","), "what to do, comma-separated")
	list(&o.contenders, "contenders", "bare,typed,applied,unstructured,dyncontroller",
		"who does it, comma-separated, also trimmed; NAME=PATH is a binary of dyncontroller")
	list(&o.phases, "phases", strings.Join(allPhases(), ","), "what to measure, comma-separated; there is always the backlog")
	flags.IntVar(&o.objects, "objects", 4000, "how many TidbClusters there are; half of them need a change")
	kilobytes := flags.Float64("kb", 3, "the size of a TidbCluster in KB of JSON, managedFields not counted")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each contender runs")
	flags.IntVar(&o.updates, "updates", 2000, "how many updates are made that no contender needs to know of")
	flags.IntVar(&o.creations, "creations", 1000, "how many objects are created one by one")
	flags.IntVar(&o.process.workers, "workers", 4, "how many objects each contender works on at the same time")
	flags.StringVar(&o.process.gogc, "gogc", "100", "GOGC of each contender")
	flags.StringVar(&o.process.memLimit, "gomemlimit", "off", "GOMEMLIMIT of each contender")
	flags.DurationVar(&o.quiet, "quiet", 2*time.Second, "a process is settled when it has done next to nothing for so long")
	flags.BoolVar(&o.slim, "slim", false, "leave the schema of the CRD away, which is most of what a write costs the API server")
	flags.StringVar(&o.planeLimit, "plane-gomemlimit", "8GiB", "GOMEMLIMIT of the API server, which otherwise takes as much as there is")
	flags.StringVar(&o.json, "json", "", "write all figures to this file, too")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	o.size = int(*kilobytes * 1000)
	return o, o.check(flags.Args())
}

func (o options) check(rest []string) error {
	for _, name := range o.jobs {
		if !slices.Contains(allJobs(), name) {
			return fmt.Errorf("there is no job %q, only %s", name, strings.Join(allJobs(), ", "))
		}
	}
	for _, name := range o.phases {
		if !slices.Contains(allPhases(), name) {
			return fmt.Errorf("there is no phase %q, only %s", name, strings.Join(allPhases(), ", "))
		}
	}
	for _, text := range o.contenders {
		if c := parseContender(text); c.binary == "" && !slices.Contains(controllers.All(), c.name) {
			return fmt.Errorf("there is no contender %q", c.name)
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("what is %q?", rest[0])
	case o.objects < 4, o.rounds < 1, o.updates < 1, o.creations < 1, o.process.workers < 1:
		return errors.New("there must be four objects, and one of everything else")
	}
	return nil
}

// measures says whether a phase is asked for.
func (o options) measures(phase string) bool { return slices.Contains(o.phases, phase) }
