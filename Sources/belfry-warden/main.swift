import Warden

WardenProgram.main(CommandLine.arguments)
