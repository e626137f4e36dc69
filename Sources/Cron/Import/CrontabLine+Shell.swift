extension CrontabLine {
    /// The text for the shell, the command's input as a here-document.
    ///
    /// `nil` where that can't be said: the shell is not one that knows here-documents, the command has one
    /// already, or ends in a backslash.
    public var shellText: String? {
        guard let input else { return command }
        let shell = environment["SHELL"] ?? "/bin/sh"
        let name = shell.split(separator: "/").last.map(String.init) ?? shell
        guard ["sh", "dash", "bash", "ksh", "mksh", "zsh", "busybox"].contains(name),
            !command.contains("<<"), !command.hasSuffix("\\")
        else { return nil }
        // Bytes: to a Character, a carriage return and a line end are one.
        var end = "END_OF_INPUT"
        let lines = Set(
            input.utf8.split(separator: 0x0A).filter { $0.starts(with: end.utf8) }.map { Array($0) })
        while lines.contains(Array(end.utf8)) { end += "_" }
        // cron ends the input with a line end where it has none.
        let body = input.utf8.last == 0x0A ? input : input + "\n"
        return "{\n\(command)\n} <<'\(end)'\n\(body)\(end)"
    }
}
