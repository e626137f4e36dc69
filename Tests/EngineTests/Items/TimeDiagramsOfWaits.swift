import Testing

@Suite(.timeLimit(.minutes(5))) struct `a channel that waits for others, against time` {
    @Test(arguments: [
        (
            "is notified when nobody has seen it by then",
            """
            rule  failed -> desk
            rule  failed -> phone after 30m
            story f---
            desk  !---
            phone h--!
            """
        ),
        (
            "is not, where somebody acknowledged it",
            """
            rule  failed -> desk
            rule  failed -> phone after 30m
            story fk--
            desk  !x--
            phone hw--
            """
        ),
        (
            "is not, where somebody put it away",
            """
            rule  failed -> desk
            rule  failed -> phone after 30m
            story fd--
            desk  !x--
            phone hw--
            """
        ),
        (
            "is not, where it is over",
            """
            rule  failed,recovered -> desk
            rule  failed -> phone after 30m
            story fc--
            desk  !!--
            phone hw--
            """
        ),
        (
            "is notified of the recovery after the failure",
            """
            rule  failed,recovered -> desk
            rule  recovered -> phone
            rule  failed -> phone after 30m
            story f---c
            desk  !---!
            phone h--!!
            """
        ),
        (
            "is followed by the next, until somebody acknowledges",
            """
            rule  failed -> desk
            rule  failed -> phone after 20m
            rule  failed -> pager after 40m
            story f----
            desk  !----
            pager h---!
            phone h-!--
            """
        ),
        (
            "is the last, where somebody acknowledges then",
            """
            rule  failed -> desk
            rule  failed -> phone after 20m
            rule  failed -> pager after 40m
            story f--k-
            desk  !--x-
            pager h--w-
            phone h-!--
            """
        ),
        (
            "is notified from the reminder on, once an acknowledgement has expired",
            """
            rule  failed -> desk
            rule  failed -> phone after 30m
            rule  acknowledged 20m
            story fk-----
            desk  !x-!---
            phone hw-h--!
            """
        ),
        (
            "is not reminded of what is over",
            """
            rule  failed,recovered -> desk
            rule  failed -> phone after 30m
            rule  acknowledged 20m
            story fkc----
            desk  !x!----
            phone hw-----
            """
        ),
        (
            "is asked a question after its grace",
            """
            rule  question -> desk hook
            story q--
            desk  !--
            hook  h-!
            """
        ),
        (
            "is not asked what was answered before",
            """
            rule  question -> desk hook
            story qa-
            desk  !x-
            hook  hw-
            """
        ),
        (
            "waits from the second failure on, where that is the first to notify",
            """
            rule  failed -> desk
            rule  failed -> phone after 20m
            rule  alertAfter 2
            story ff--
            desk  -!--
            phone -h-!
            """
        ),
        (
            "is not notified of what is silenced",
            """
            rule  failed -> desk
            rule  failed -> phone after 20m
            rule  silence job=backup 10:00 10:40
            story f----
            desk  ----!
            phone -----
            """
        ),
        (
            "is held by quiet hours as well",
            """
            rule  failed -> desk
            rule  failed -> phone after 20m
            rule  urgency normal
            rule  quiet 10:00-10:40
            story f----
            desk  ----!
            phone h---!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a thread, against time` {
    @Test(arguments: [
        (
            "waits for company, and rings once (group_wait)",
            """
            place 1s
            rule  message -> desk hook
            rule  wait 3s
            story mm---
            desk  ---!-
            hook  ---!-
            """
        ),
        (
            "that is read within the wait is nothing (resolved before group_wait)",
            """
            place 1s
            rule  message -> desk hook
            rule  wait 3s
            story mr---
            desk  -----
            hook  -----
            """
        ),
        (
            "that is critical does not wait",
            """
            place 1s
            rule  message -> desk hook
            rule  wait 3s
            story u
            desk  !
            hook  !
            """
        ),
        (
            "shows what comes later at once, without a sound (group_interval)",
            """
            place 2s
            rule  message -> desk hook
            rule  wait 0s
            story mm
            desk  !.
            hook  !!
            """
        ),
        (
            "rings again after a while (repeat_interval)",
            """
            place 2s
            rule  message -> desk
            rule  wait 0s
            rule  again 5s
            story mmmm
            desk  !..!
            """
        ),
        (
            "rings when it becomes more urgent",
            """
            place 2s
            rule  message -> desk
            rule  wait 0s
            story lmmu
            desk  .!.!
            """
        ),
        (
            "that is read is taken away, and begins again",
            """
            place 2s
            rule  message -> desk hook
            rule  wait 0s
            story mrm
            desk  !x!
            hook  !-!
            """
        ),
        (
            "takes the place of what waits for a channel that is down",
            """
            place 2s
            rule  message -> hook
            rule  wait 0s
            rule  down hook
            story mmn
            hook  !~!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `rules together, against time` {
    @Test(arguments: [
        (
            "hold by the silence that quiet hours end in",
            """
            rule  failed -> desk hook
            rule  urgency normal
            rule  quiet 10:00-10:20
            rule  silence job=backup 10:10 10:40
            story f----
            desk  ----!
            hook  h-s--
            """
        ),
        (
            "hold by the quiet hours that a silence ends in",
            """
            rule  message -> desk hook
            rule  quiet 10:20-10:40
            rule  silence bot=ops 10:00 10:30
            story m----
            desk  ----!
            hook  -----
            """
        ),
        (
            "hold by the quiet hours that a budget ends in",
            """
            rule  message -> desk hook
            rule  budget 1
            rule  quiet 10:50-11:20
            story mn-------
            desk  !-------!
            hook  !h------!
            """
        ),
        (
            "leave a recovery out where an inhibition kept the failure back",
            """
            rule  failed,recovered -> hook
            rule  inhibit job=ping event=failed
            story pfco
            hook  !--!
            """
        ),
        (
            "send the failure that is left when its cause is over, and people once",
            """
            rule  failed,recovered -> phone
            rule  inhibit job=ping event=failed
            story pfoff
            phone !-!!-
            """
        ),
        (
            "keep a route's time, then its wait",
            """
            rule  failed -> desk
            rule  failed -> phone after 20m during 10:10-10:20
            story fg--
            desk  !!--
            phone -h-!
            """
        ),
    ])
    func `is as drawn`(what: String, drawing: String) async throws {
        try await expectAsDrawn(drawing, what)
    }
}
