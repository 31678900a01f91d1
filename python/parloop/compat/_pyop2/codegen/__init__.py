"""What programs take from PyOP2's code generator."""
