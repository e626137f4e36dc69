import Testing

@Suite(.timeLimit(.minutes(5))) struct `a silence, against time` {
    @Test(arguments: [
        (
            "that is active keeps a failure back, and shows it at its end where items are edited",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 10:30
            story f---
            desk  ---!
            hook  ----
            """
        ),
        (
            "that is pending holds nothing before its start, and what is shown goes on without a sound",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:20 10:50
            story f-g---
            desk  !-.---
            hook  !-----
            """
        ),
        (
            "that has expired holds nothing, from its last moment on",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 10:10
            story -f
            desk  -!
            hook  -!
            """
        ),
        (
            "that is ended by hand shows at once what it kept back",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 12:00
            story f-E
            desk  --!
            hook  ---
            """
        ),
        (
            "in which a failure is resolved leaves nothing to say",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 10:30
            story fc--
            desk  ----
            hook  ----
            """
        ),
        (
            "that a failure outlasts lets its recovery through where the failure was shown",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:00 10:20
            story f--c
            desk  --!!
            hook  ----
            """
        ),
        (
            "lets the recovery of a failure through that was sent before",
            """
            rule  failed,recovered -> desk hook
            rule  silence job=backup 10:10 10:40
            story fc---
            desk  !.---
            hook  !!---
            """
        ),
        (
            "of another job holds nothing",
            """
            rule  failed -> desk hook
            rule  silence job=backup 10:00 10:30
            story p
            desk  !
            hook  !
            """
        ),
        (
            "with one that overlaps it lasts until both have ended",
            """
            rule  failed -> desk hook
            rule  silence job=backup 10:00 10:20
            rule  silence host=db1 10:10 10:40
            rule  label backup host db1
            story f----
            desk  ----!
            hook  -----
            """
        ),
        (
            "of one channel is none of the others",
            """
            rule  failed -> desk hook
            rule  silence channel=hook 10:00 11:00
            story f
            desk  !
            hook  -
            """
        ),
        (
            "of what is not critical lets the rest through",
            """
            rule  message -> desk hook
            rule  silence urgency!=critical 10:00 10:30
            story mu--
            desk  -!--
            hook  -!--
            """
        ),
        (
            "does not keep a failure from being news afterwards",
            """
            rule  failed -> phone
            rule  silence job=backup 10:00 10:10
            story ff
            phone -!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `an inhibition, against time` {
    @Test(arguments: [
        (
            "keeps quiet what fails on the host that is down",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed host
            rule  label ping host db1
            rule  label backup host db1
            story pf
            desk  !-
            hook  !-
            """
        ),
        (
            "is none of another host",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed host
            rule  label ping host db1
            rule  label backup host db2
            story pf
            desk  !!
            hook  !!
            """
        ),
        (
            "takes a label that both lack as equal",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed host
            story pf
            desk  !-
            hook  !-
            """
        ),
        (
            "takes a label that one of them lacks as different",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed host
            rule  label backup host db1
            story pf
            desk  !!
            hook  !!
            """
        ),
        (
            "ends with its cause",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed
            story pfof
            desk  !-!!
            hook  !-!!
            """
        ),
        (
            "does not hold between two causes",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=~ping|backup event=failed
            story pf
            desk  !!
            hook  !!
            """
        ),
        (
            "lets the recovery of what failed before through",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed
            story fpc
            desk  !!!
            hook  !!!
            """
        ),
        (
            "does not end what is shown, and has it go on without a sound",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed
            story fpg
            desk  !!.
            hook  !!-
            """
        ),
        (
            "holds also where the cause itself is silenced",
            """
            rule  failed,recovered -> desk hook
            rule  inhibit job=ping event=failed
            rule  silence job=ping 10:00 11:00
            story pf
            desk  --
            hook  --
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `quiet hours, against time` {
    @Test(arguments: [
        (
            "let through what is critical",
            """
            rule  failed -> desk hook phone
            rule  quiet 10:00-11:00
            story f
            desk  !
            hook  !
            phone !
            """
        ),
        (
            "hold a message until their end",
            """
            rule  message -> desk hook phone
            rule  quiet 10:00-10:30
            story m---
            desk  ---!
            hook  h--!
            phone h--!
            """
        ),
        (
            "end with one digest for people, and with each entry for programs",
            """
            rule  message -> desk hook phone
            rule  quiet 10:00-10:30
            story mn--
            desk  ---(!..)
            hook  hh-(!!)
            phone hh-(wwD)
            """
        ),
        (
            "are none for pagers",
            """
            rule  failed -> pager phone
            rule  urgency normal
            rule  quiet 10:00-10:30
            story f---
            pager !---
            phone h--!
            """
        ),
        (
            "give way to a digest that somebody asks for",
            """
            rule  message -> desk hook phone
            rule  quiet 10:00-12:00
            story mn-D
            desk  ---(!..)
            hook  hh-(!!)
            phone hh-(wwD)
            """
        ),
        (
            "have what is shown go on without a sound",
            """
            rule  failed -> desk hook
            rule  urgency normal
            rule  quiet 10:10-10:40
            story fg---
            desk  !.---
            hook  !h--!
            """
        ),
        (
            "forget what was read meanwhile",
            """
            rule  message -> desk phone
            rule  quiet 10:00-10:30
            story m-r-
            desk  ----
            phone h-w-
            """
        ),
        (
            "that follow each other are one",
            """
            rule  message -> desk hook
            rule  quiet 10:00-10:20 10:20-10:40
            story m----
            desk  ----!
            hook  h---!
            """
        ),
        (
            "bring the newest of a thread alone",
            """
            rule  message -> desk phone
            rule  quiet 10:00-10:30
            story mm--
            desk  ---!
            phone hh-(w!)
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a budget of interruptions, against time` {
    @Test(arguments: [
        (
            "holds the second of an hour until there is room",
            """
            rule  message -> desk hook
            rule  budget 1
            story mn-----
            desk  !-----!
            hook  !h----!
            """
        ),
        (
            "lets through what is critical",
            """
            rule  message -> desk hook
            rule  budget 1
            story mu
            desk  !!
            hook  !!
            """
        ),
        (
            "is that of one bot",
            """
            rule  message -> desk hook
            rule  budget 1
            story mv
            desk  !!
            hook  !!
            """
        ),
        (
            "is not used up by what makes no sound",
            """
            rule  message -> desk
            rule  budget 1
            rule  again 1h
            story mmn----
            desk  !.----!
            """
        ),
        (
            "is that of one channel",
            """
            rule  failed -> desk
            rule  message -> hook
            rule  urgency normal
            rule  budget 1
            story mf
            desk  -!
            hook  !-
            """
        ),
        (
            "counts a digest once",
            """
            rule  message -> phone
            rule  budget 1
            rule  quiet 10:00-10:30
            story mn--n
            phone hh-(wwD)h
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}
