"""What is done to a program before a schedule is made."""

from ...loops import preprocess_kernel as preprocess_kernel
from ...loops import preprocess_program as preprocess_program
