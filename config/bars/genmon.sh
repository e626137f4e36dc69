#!/bin/sh
# Xfce's generic monitor (xfce4-genmon-plugin): give it this file as its command, with a period of 5 s.
exec belfry widget --format genmon
