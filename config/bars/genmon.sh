#!/bin/sh
# Xfce's generic monitor (xfce4-genmon-plugin): give it this file as its command, with a period of 5 s. A click on the
# text opens a terminal with the runs, or with a chat: with "--bots ops,sage" it shows bots.
exec belfry widget --format genmon "$@"
