package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/dyncontroller/dyncontroller/test/bench/controllers"
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) > 1 && os.Args[1] == "controller" {
		err = runController(ctx, os.Args[2:])
	} else {
		err = runBench(ctx, os.Args[1:])
	}
	restore()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runBench(ctx context.Context, arguments []string) error {
	o, err := parseOptions(arguments, os.Stderr)
	if err != nil {
		return err
	}
	return bench(ctx, o, os.Stdout, os.Stderr)
}

// runController is what the bench starts for each contender of the package controllers.
func runController(ctx context.Context, arguments []string) error {
	var (
		o                     controllers.Options
		job, name, kubeconfig string
	)
	flags := flag.NewFlagSet("bench controller", flag.ContinueOnError)
	flags.StringVar(&job, "job", "", "the job to do")
	flags.StringVar(&name, "name", "", "the controller of that job")
	flags.StringVar(&kubeconfig, "kubeconfig", "", "the cluster")
	flags.StringVar(&o.Want, "want", "", "the value to write")
	flags.IntVar(&o.Workers, "workers", 4, "how many objects are worked on at the same time")
	err := flags.Parse(arguments)
	if err != nil {
		return err
	}
	if o.Config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return err
	}
	o.Config.QPS = -1                  // No limit, as dyncontroller has none.
	o.Config.DisableCompression = true // As dyncontroller: lists that are streamed would be compressed, with the events after them.
	if err := controllers.Run(ctx, job, name, o); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
