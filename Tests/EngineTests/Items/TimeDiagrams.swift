import Testing

// Drawings of every stage of dispatch, alone and together, through items, rules, timers and the ledger.
//
// What is expected follows from the manual. The rules of grouping and inhibition are Alertmanager's, by its documentation:
// `group_wait`, `group_interval`, `repeat_interval`, silences that are active, pending and expired, inhibition with equal
// labels, and what is resolved before it was sent.

@Suite(.timeLimit(.minutes(5))) struct `a route, against time` {
    @Test(arguments: [
        (
            "leads to each channel once, however many routes do",
            """
            rule  failed -> desk hook
            rule  failed -> hook phone
            story f
            desk  !
            hook  !
            phone !
            """
        ),
        (
            "leads where its condition on a label holds",
            """
            rule  failed -> desk
            rule  failed -> hook if host=db2
            rule  failed -> phone if host=db1
            rule  label backup host db1
            story f
            desk  !
            hook  -
            phone !
            """
        ),
        (
            "leads anywhere at its times of the day only",
            """
            rule  failed -> desk
            rule  failed -> phone during 10:20-10:40
            story fgfgfg
            desk  !!!!!!
            phone --!!--
            """
        ),
        (
            "that names another word leads nowhere",
            """
            rule  failed -> hook
            rule  message -> desk
            story fm
            desk  -!
            hook  !-
            """
        ),
        (
            "of messages leads questions, where no other does",
            """
            rule  failed -> hook
            rule  message -> desk
            story qa
            desk  !x
            hook  --
            """
        ),
        (
            "of recoveries alone brings all of them",
            """
            rule  failed -> hook
            rule  recovered -> phone
            story fc
            hook  !-
            phone -!
            """
        ),
        (
            "that nobody wrote brings failures and recoveries, and no success of a schedule",
            """
            story cfc
            desk  -!!
            hook  -!!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `what a bot or a job asks for, against time` {
    @Test(arguments: [
        (
            "begins with the second failure, and its recovery with it",
            """
            rule  failed,recovered -> desk hook
            rule  alertAfter 2
            story ffcf
            desk  -!!-
            hook  -!!-
            """
        ),
        (
            "keeps a recovery away whose failure was one too few",
            """
            rule  failed,recovered -> desk hook
            rule  alertAfter 2
            story fc
            desk  --
            hook  --
            """
        ),
        (
            "is silence but for questions, where the bot is switched off",
            """
            rule  failed,message,question -> desk hook
            rule  off
            story fmqa
            desk  --!x
            hook  --hw
            """
        ),
        (
            "is silence, where the job says never",
            """
            rule  failed,recovered -> desk hook
            rule  wish backup never
            story fc
            desk  --
            hook  --
            """
        ),
        (
            "is each success, which goes where failures go",
            """
            rule  failed -> desk hook
            rule  wish backup completed
            story c
            desk  !
            hook  !
            """
        ),
        (
            "is no success, where the job wants failures",
            """
            rule  failed,completed,recovered -> desk hook
            rule  wish backup failure
            story cfc
            desk  -!!
            hook  -!!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a failure, against time` {
    @Test(arguments: [
        (
            "is sent people once, programs each time, and counted on the desktop",
            """
            rule  failed,recovered -> desk hook phone
            story fffgc
            desk  !..!!
            hook  !!!!!
            phone !--!!
            """
        ),
        (
            "is sent people each time, where the bot says so",
            """
            rule  failed -> phone
            rule  each
            story fff
            phone !!!
            """
        ),
        (
            "is sent people again, where a person asked for the run",
            """
            rule  failed -> phone
            story fe
            phone !!
            """
        ),
        (
            "is news again after a recovery",
            """
            rule  failed,recovered -> desk phone
            story fcf
            desk  !!!
            phone !!!
            """
        ),
        (
            "that was put away comes back without a sound when the next run fails alike",
            """
            rule  failed,recovered -> desk
            story fdfg
            desk  !x.!
            """
        ),
        (
            "that was put away comes back with its recovery",
            """
            rule  failed,recovered -> desk
            story fdc
            desk  !x!
            """
        ),
        (
            "like two others within a minute is one item, and three entries",
            """
            place 10s
            rule  failed,recovered -> desk hook
            story xyz
            desk  !!(xx.)
            hook  !!!
            """
        ),
        (
            "like two others hours before is one of its own",
            """
            place 1h
            rule  failed,recovered -> desk hook
            story xyz
            desk  !!!
            hook  !!!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}
